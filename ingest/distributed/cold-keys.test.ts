import { expect, test } from 'vitest';
import type { UsageRequest } from '../../infra/ports/engine.ts';
import { OUTCOME } from '../../infra/ports/idempotency-store.ts';
import type { Statement } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import { decideCold } from './cold-keys.ts';
import { CUSTOMER, openDistributedEngine } from './distributed-usage-under-test.ts';

const NOW_MS = Date.parse('2026-11-20T10:00:00Z');
const OLD = '2026-11-10T10:00:00Z';
const NEW = '2026-11-20T09:00:00Z';

/** A batch with an event for each key and time, as it is before its keys are claimed. */
async function identifiedBatch(events: Array<[key: string, occurredAt: string, value?: number]>) {
  const engine = await openDistributedEngine({ createdAtMs: () => NOW_MS });
  const items = events.map(([idempotencyKey, occurredAt, value = 1]) => {
    return { customerId: CUSTOMER, meterId: 'calls', value, idempotencyKey, occurredAt };
  });
  const request: UsageRequest = {
    environment: 'ws_a:live',
    kind: 'batch',
    includeEvents: false,
    requestId: 'req_a',
    body: Buffer.from(JSON.stringify({ events: items })),
  };
  const identified = engine.identify(await engine.read(request));
  if (!('count' in identified)) throw new Error('the batch was rejected');
  return identified;
}

// Red when such an item is sent to the key store, which has forgotten the key: one event would be there
// twice.
test('what is found decides all items of the request with its key', async () => {
  const identified = await identifiedBatch([
    ['a', NEW, 1],
    ['b', NEW, 2],
    ['a', OLD, 1],
    ['a', NEW, 3],
  ]);
  const words = new BigUint64Array(identified.records.buffer, 0, identified.count * 5);
  const query = async <Row>({ params }: Statement) =>
    ((params?.ids ?? []) as string[]).map((id) => ({
      id,
      fingerprint: String(words[2]),
      occurredAtMs: String(Date.parse(OLD)),
      createdAtMs: String(Date.parse(OLD)),
    })) as Row[];
  const outcomes = new Uint8Array(identified.count);
  expect(await decideCold({ query }, identified, outcomes)).toEqual(new Set([0, 2, 3]));
  const { created: none, duplicate, reused } = OUTCOME;
  outcomes[1] = none;
  expect([...outcomes]).toEqual([duplicate, none, duplicate, reused]);
  const { results } = JSON.parse(identified.response(outcomes).body.toString());
  expect(results[3].error.code).toBe('idempotency_key_reused');
});

// Red when one of them takes the key: what is stored under it would be counted twice.
test('all items with the key of an old one wait with it while ClickHouse is unavailable', async () => {
  const unavailable = () => Promise.reject(new Transient('warehouse_unavailable', 'The test.'));
  const identified = await identifiedBatch([
    ['a', NEW],
    ['b', OLD],
    ['a', OLD],
    ['b', NEW],
    ['c', NEW],
  ]);
  const outcomes = new Uint8Array(identified.count);
  expect(await decideCold({ query: unavailable }, identified, outcomes)).toEqual(new Set([0, 1, 2, 3]));
  const { results } = JSON.parse(identified.response(outcomes).body.toString());
  const codes = results.map(({ error }: { error?: { code: string } }) => error?.code);
  expect(codes.slice(0, 4)).toEqual(Array(4).fill('unavailable'));
});
