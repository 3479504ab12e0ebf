import type { ReceivedEvent } from '../../support/webhook-receiver.ts';

/** What each endpoint received of which customer, compared with what the API has acknowledged. */
export interface NotifiedLedger {
  acknowledged(customerId: string): void;
  received(event: ReceivedEvent): void;
  /** The endpoint has said that it has it. */
  responded(event: ReceivedEvent, status: number): void;
  /** Whether this endpoint was ever sent this event. */
  knows(endpoint: string, eventId: string): boolean;
  /** Of those acknowledged, what this endpoint has not taken yet. */
  missing(endpoint: string): string[];
  killed(kill: Kill): void;
  /** From events to their first attempts. */
  delays(endpoint: string): Delays;
  judge(): { counts: Record<string, number>; problems: string[] };
}

export interface Delays {
  /** From the event. */
  undisturbedMs: number[];
  /** A kill came between: from the recovery. */
  afterKillMs: number[];
}

export interface Kill {
  atMs: number;
  /** The API responds again. */
  backAtMs: number;
}

interface Notified {
  endpoint: string;
  customerId: string;
  createdAtMs: number;
  requests: Array<ReceivedEvent & { takenAtMs?: number }>;
}

/**
 * An attempt that had its response, and whose outcome was not recorded before the kill, is repeated. It is
 * written within some 50 ms; a busy machine takes longer.
 */
const WRITTEN_WITHIN_MS = 2_000;

export function createNotifiedLedger(endpoints: readonly string[]): NotifiedLedger {
  const customers = new Set<string>();
  const notified = new Map<string, Notified>();
  const kills: Kill[] = [];
  const find = (endpoint: string, customerId: string) => notified.get(`${endpoint} ${customerId}`);
  const events = new Set<string>();

  return {
    acknowledged: (customerId) => void customers.add(customerId),
    received(event) {
      const { customerId, createdAtMs } = read(event);
      const key = `${event.endpoint} ${customerId}`;
      const entry = notified.get(key) ?? { endpoint: event.endpoint, customerId, createdAtMs, requests: [] };
      notified.set(key, entry);
      entry.requests.push(event);
      events.add(`${event.endpoint} ${event.eventId}`);
    },
    responded(event, status) {
      const request = find(event.endpoint, read(event).customerId)?.requests.find((one) => one === event);
      if (request && status < 300) request.takenAtMs = Date.now();
    },
    knows: (endpoint, eventId) => events.has(`${endpoint} ${eventId}`),
    missing: (endpoint) => [...customers].filter((id) => !isTaken(find(endpoint, id))),
    killed: (kill) => void kills.push(kill),
    delays: (endpoint) =>
      delaysOf(
        [...notified.values()].filter((one) => one.endpoint === endpoint),
        kills,
      ),
    judge() {
      const all = [...notified.values()];
      const doubled = all.filter((one) => repeatsOf(one).length > 0);
      const problems = [
        ...endpoints.flatMap((endpoint) =>
          this.missing(endpoint).map((id) => `${endpoint} never received ${id}`),
        ),
        ...all.filter(isChanged).map(({ endpoint, customerId }) => {
          return `${endpoint} received ${customerId} under several ids, or with other bytes`;
        }),
        ...all
          .filter((one) => repeatsOf(one).some((atMs) => !isOfKill(atMs, kills)))
          .map((one) => {
            return `${one.endpoint} took ${one.customerId}, and received it again without a kill`;
          }),
      ];
      const counts = { customersAcknowledged: customers.size, deliveriesTaken: all.filter(isTaken).length };
      return { counts: { ...counts, deliveriesTakenTwice: doubled.length }, problems };
    },
  };
}

function read({ body }: ReceivedEvent): { customerId: string; createdAtMs: number } {
  const { created_at, data } = JSON.parse(body) as { created_at: string; data: { customerId: string } };
  return { customerId: data.customerId, createdAtMs: Date.parse(created_at) };
}

function isTaken(one: Notified | undefined): boolean {
  return one?.requests.some(({ takenAtMs }) => takenAtMs !== undefined) ?? false;
}

function isChanged({ requests: [first, ...rest] }: Notified): boolean {
  return rest.some(({ eventId, body }) => eventId !== first?.eventId || body !== first.body);
}

/** When those were taken that were not the last request for it. */
function repeatsOf({ requests }: Notified): number[] {
  return requests.slice(0, -1).flatMap(({ takenAtMs }) => takenAtMs ?? []);
}

function isOfKill(takenAtMs: number, kills: readonly Kill[]): boolean {
  return kills.some(({ atMs }) => atMs > takenAtMs - CLOCKS_APART_MS && atMs < takenAtMs + WRITTEN_WITHIN_MS);
}

/** The kill is recorded once the process is gone; its last request may get its response after that. */
const CLOCKS_APART_MS = 2_000;

function delaysOf(all: readonly Notified[], kills: readonly Kill[]): Delays {
  const delays: Delays = { undisturbedMs: [], afterKillMs: [] };
  for (const { createdAtMs, requests } of all) {
    const firstAtMs = requests[0]?.atMs ?? Number.POSITIVE_INFINITY;
    const kill = kills.find(({ atMs }) => atMs >= createdAtMs && atMs <= firstAtMs);
    if (kill) delays.afterKillMs.push(firstAtMs - kill.backAtMs);
    else delays.undisturbedMs.push(firstAtMs - createdAtMs);
  }
  return delays;
}
