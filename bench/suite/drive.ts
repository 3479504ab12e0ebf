import type { LoadBody } from '../../tests/support/load-body.ts';
import { createLoadSenders, type LoadSender } from '../../tests/support/load-senders.ts';

export interface Driven {
  url: string;
  key: string;
  customers: readonly string[];
  meterKey: string;
  batch: number;
  connections: number;
  durationMs: number;
  /** Share of the events; none when left out. */
  replays?: number;
  /** What occurredAt is spread over, up to now: a minute when left out. */
  spreadMs?: number;
  /** Ends early, once this many were acknowledged. */
  eventsMax?: number;
  /** Waited for before each request. */
  beforeEach?: () => Promise<void>;
}

export interface DrivenResult {
  events: number;
  /** Sent: heads and bodies of the requests. */
  bytes: number;
  seconds: number;
}

const BODIES_EACH = 4;
const PROPERTIES = ['p0', 'p1', 'p2'];
let runs = 0;

/** Connections with keys that no earlier run used. */
export function makeSenders({ url, meterKey, ...driven }: Driven, seed: number): LoadSender[] {
  return createLoadSenders({
    ...driven,
    url: new URL(url),
    meterKeys: [meterKey],
    properties: PROPERTIES,
    bodiesEach: BODIES_EACH,
    nowMs: Date.now(),
    seed,
    keyPrefix: `${process.pid.toString(36)}-${runs++}-`,
  });
}

/** As many new events as are acknowledged, one request in flight per connection. */
export async function drive(driven: Driven): Promise<DrivenResult> {
  const driver = createDriver(driven);
  try {
    return await driver.run(driven.durationMs);
  } finally {
    driver.close();
  }
}

/** The same again and again on connections that stay open: to open them would be a part of a short run. */
export interface Driver {
  run(durationMs: number): Promise<DrivenResult>;
  close(): void;
}

export function createDriver(driven: Driven): Driver {
  const senders = makeSenders(driven, 1);
  const { batch, eventsMax = Number.POSITIVE_INFINITY, beforeEach } = driven;
  return {
    async run(durationMs) {
      const startedAt = performance.now();
      let events = 0;
      let bytes = 0;
      const mayGoOn = () => performance.now() < startedAt + durationMs && events < eventsMax;
      const onResponded = (request: Buffer) => {
        events += batch;
        bytes += request.length;
      };
      await Promise.all(senders.map((sender) => askInTurn(sender, { mayGoOn, beforeEach, onResponded })));
      return { events, bytes, seconds: (performance.now() - startedAt) / 1_000 };
    },
    close: () => {
      for (const { connection } of senders) connection.close();
    },
  };
}

interface Turns {
  mayGoOn: () => boolean;
  beforeEach: Driven['beforeEach'];
  onResponded: (request: Buffer) => void;
}

async function askInTurn(
  { connection, bodies }: LoadSender,
  { mayGoOn, beforeEach, onResponded }: Turns,
): Promise<void> {
  for (let sent = 0; mayGoOn(); sent++) {
    if (beforeEach) await beforeEach();
    const { request } = (bodies[sent % bodies.length] as LoadBody).next();
    const { status, body } = await connection.ask(request);
    if (status !== 200 && status !== 201) throw new Error(`returned ${status}: ${body.subarray(0, 300)}`);
    onResponded(request);
  }
}
