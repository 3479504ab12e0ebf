import { createLoadConnection } from '../tests/support/load-connection.ts';

export interface Batches {
  origin: string;
  key: string;
  events: number;
  /** The JSON of each, by its number. */
  eventOf: (number: number) => string;
  onAcknowledged?: (events: number) => void;
}

const BATCH = 500;
const CONNECTIONS = 4;

/** Sends events that are made one by one, in batches. Rejects unless all of them are acknowledged. */
export async function sendBatches(batches: Batches): Promise<void> {
  let begun = 0;
  const send = async () => {
    const connection = createLoadConnection(new URL(batches.origin));
    while (begun < batches.events) {
      const first = begun;
      begun += BATCH;
      const { status, body } = await connection.ask(requestOf(batches, first));
      if (status !== 200) throw new Error(`a batch returned ${status}: ${body.subarray(0, 300)}`);
      batches.onAcknowledged?.(BATCH);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
}

function requestOf({ origin, key, eventOf }: Batches, first: number): Buffer {
  const events = Array.from({ length: BATCH }, (_, at) => eventOf(first + at));
  const body = `{"events":[${events.join(',')}]}`;
  const head = [
    'POST /api/v1/usage/events/batch HTTP/1.1',
    `Host: ${new URL(origin).host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}
