import { type Api, callDone } from '../../support/api.ts';
import { type OpenedInstance, openInstance } from '../../support/open-instance.ts';
import { startSenders } from '../../support/senders.ts';
import {
  type ReceivedEvent,
  type ReceiverOptions,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../support/webhook-receiver.ts';
import type { FaultOptions } from '../promise.ts';
import { untilResponse } from '../until-response.ts';

/** A Metergate, and a receiver on the same machine that its endpoints lead to. */
export interface WebhookScenario extends OpenedInstance {
  receiver: WebhookReceiver;
}

export async function openWebhookScenario(
  { onEnd }: FaultOptions,
  { connections, ...options }: ReceiverOptions & { connections: number },
): Promise<WebhookScenario> {
  const receiver = await startWebhookReceiver(options);
  onEnd(() => receiver.close());
  const environment = { LOG_LEVEL: 'warn', WEBHOOK_ALLOW_PRIVATE: 'true' };
  const opened = await openInstance(environment, { connections });
  onEnd(opened.close);
  return { ...opened, receiver };
}

/** An endpoint that receives new customers. */
export async function register(api: Api, url: string): Promise<void> {
  await callDone(api, 'POST', '/webhooks/endpoints', { url, events: ['customer.created'] });
}

interface WorkloadPlan {
  /** Of its keys and names. */
  run: string;
  senders: number;
  /** Between two of a sender. */
  pauseMs?: number;
  onCreated: (customerId: string) => void;
}

export type CustomerWorkload = ReturnType<typeof startCustomerWorkload>;

/** Creates customers continuously, each repeated until its response comes, under one key. */
export function startCustomerWorkload(api: Api, { run, senders, pauseMs = 0, onCreated }: WorkloadPlan) {
  let [requested, responded] = [0, 0];
  const summary = { requestsRepeated: 0 };

  async function send(): Promise<void> {
    requested += 1;
    const headers = { 'idempotency-key': `${run}-${requested}` };
    const body = JSON.stringify({ name: `${run} ${requested} é✓`, email: `${run}-${requested}@example.com` });
    const { response, repeats } = await untilResponse(
      () => api.call('POST', '/customers', { body, headers }),
      'a new customer',
      ({ status }) => status === 503 || status === 409,
    );
    if (response.status !== 201) throw new Error(`a customer returned ${response.status}`);
    summary.requestsRepeated += repeats;
    responded += 1;
    onCreated((response.body as { id: string }).id);
  }

  return {
    ...startSenders({ senders, pauseMs, send, summary }),
    /** Responses so far. */
    responded: () => responded,
  };
}

/** What each endpoint received of one customer. */
interface Notified {
  endpoint: string;
  customerId: string;
  createdAtMs: number;
  requests: NotifiedRequest[];
}

interface NotifiedRequest extends ReceivedEvent {
  /** The endpoint has responded that it has it. */
  takenAtMs?: number;
}

export type NotifiedLedger = ReturnType<typeof createNotifiedLedger>;

/** What each endpoint received of which customer, compared with what the API has acknowledged. */
export function createNotifiedLedger(endpoints: readonly string[]) {
  const customers = new Set<string>();
  const notified = new Map<string, Notified>();
  const find = (endpoint: string, customerId: string) => notified.get(`${endpoint} ${customerId}`);
  const events = new Set<string>();
  /** Of those acknowledged, what this endpoint has not taken yet. */
  const missing = (endpoint: string) => [...customers].filter((id) => !isTaken(find(endpoint, id)));

  return {
    acknowledged: (customerId: string) => void customers.add(customerId),
    received(event: ReceivedEvent): void {
      const { customerId, createdAtMs } = read(event);
      const key = `${event.endpoint} ${customerId}`;
      const entry = notified.get(key) ?? { endpoint: event.endpoint, customerId, createdAtMs, requests: [] };
      notified.set(key, entry);
      entry.requests.push(event);
      events.add(`${event.endpoint} ${event.eventId}`);
    },
    responded(event: ReceivedEvent, status: number): void {
      const request = find(event.endpoint, read(event).customerId)?.requests.find((one) => one === event);
      if (request && status < 300) request.takenAtMs = Date.now();
    },
    /** Whether this endpoint was ever sent this event. */
    knows: (endpoint: string, eventId: string) => events.has(`${endpoint} ${eventId}`),
    isComplete: () => endpoints.every((endpoint) => missing(endpoint).length === 0),
    all: () => [...notified.values()],
    /** `mayRepeat`: whether a request that was taken had a reason to be repeated. */
    judge(mayRepeat: (request: NotifiedRequest) => boolean) {
      const all = [...notified.values()];
      const problems = [
        ...endpoints.flatMap((endpoint) => missing(endpoint).map((id) => `${endpoint} never received ${id}`)),
        ...all.filter(isChanged).map(({ endpoint, customerId }) => {
          return `${endpoint} received ${customerId} under several ids, or with other bytes`;
        }),
        ...all
          .filter((one) => repeatsOf(one).some((request) => !mayRepeat(request)))
          .map((one) => `${one.endpoint} took ${one.customerId}, and received it again without a reason`),
      ];
      const counts = {
        customersAcknowledged: customers.size,
        deliveriesTaken: all.filter(isTaken).length,
        deliveriesTakenTwice: all.filter((one) => repeatsOf(one).length > 0).length,
      };
      return { counts, problems };
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

/** Those taken that were not the last request for it. */
function repeatsOf({ requests }: Notified): NotifiedRequest[] {
  return requests.slice(0, -1).filter(({ takenAtMs }) => takenAtMs !== undefined);
}
