import { createLoadBody, type LoadBody } from '../../tests/support/load-body.ts';
import { createLoadConnection, type LoadConnection } from '../../tests/support/load-connection.ts';

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
}

export interface DrivenResult {
  events: number;
  seconds: number;
}

const BODIES_PER_SENDER = 4;
const PROPERTIES = ['p0', 'p1', 'p2'];
let runs = 0;

/** Connections with keys that no earlier run used. */
export function makeSenders(driven: Driven, seed: number) {
  const { url, key, customers, meterKey, batch, replays = 0, spreadMs } = driven;
  const run = `${process.pid.toString(36)}-${runs++}`;
  return Array.from({ length: driven.connections }, (_, sender) => ({
    connection: createLoadConnection(new URL(url)),
    bodies: Array.from({ length: BODIES_PER_SENDER }, (__, body) =>
      createLoadBody({
        host: '127.0.0.1',
        key,
        customers,
        meterKeys: [meterKey],
        batch,
        replays,
        properties: PROPERTIES,
        ...(spreadMs === undefined ? {} : { spreadMs }),
        nowMs: Date.now(),
        seed: seed + sender * BODIES_PER_SENDER + body,
        keyPrefix: `${run}-${sender.toString(36)}${body}-`,
      }),
    ),
  }));
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
  const { batch, eventsMax = Number.POSITIVE_INFINITY } = driven;
  return {
    async run(durationMs) {
      const startedAt = performance.now();
      let events = 0;
      const mayGoOn = () => performance.now() < startedAt + durationMs && events < eventsMax;
      const onResponded = () => {
        events += batch;
      };
      await Promise.all(senders.map((sender) => askInTurn(sender, mayGoOn, onResponded)));
      return { events, seconds: (performance.now() - startedAt) / 1_000 };
    },
    close: () => {
      for (const { connection } of senders) connection.close();
    },
  };
}

async function askInTurn(
  { connection, bodies }: { connection: LoadConnection; bodies: LoadBody[] },
  mayGoOn: () => boolean,
  onResponded: () => void,
): Promise<void> {
  for (let sent = 0; mayGoOn(); sent++) {
    const { request } = (bodies[sent % bodies.length] as LoadBody).next();
    const { status, body } = await connection.ask(request);
    if (status !== 200 && status !== 201) throw new Error(`returned ${status}: ${body.subarray(0, 300)}`);
    onResponded();
  }
}
