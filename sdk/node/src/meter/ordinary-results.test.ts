import { describe, expect, it } from 'vitest';
import { type BatchItem, resultsOf } from './batch-server-under-test.ts';
import { batchOf } from './event-batch.ts';
import { storedCounts, storedKeys } from './ordinary-results.ts';
import { readVerdict } from './results.ts';

const KEYS = ['01J9Z0K5X1M2N3P4Q5R6S7T8V9', 'ä-1', '{"index":2}'.replaceAll('"', "'"), ...'abcdefghi'];
const BATCH = batchOf(KEYS.map((idempotencyKey) => JSON.stringify({ idempotencyKey, value: 1 })));

/** As the server writes it. */
function responseOf(keys: readonly string[], known: readonly string[] = []): string {
  const items = keys.map((idempotencyKey) => ({ idempotencyKey }) as BatchItem);
  const { results } = resultsOf(items, new Set(known));
  const named = results.map((one) => ({ ...one, eventId: 'use_3T9M8C7V6B5N4M3K2J1H0G9F8D' }));
  return JSON.stringify({ summary: { total: keys.length, created: 1 }, results: named });
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

/** What the response says when it is parsed: a space makes it another than the ordinary one. */
function parsedCounts(response: Uint8Array): object | undefined {
  const text = ` ${Buffer.from(response).toString()}`;
  const verdict = readVerdict({ status: 200, header: () => null, text, bytes: bytesOf(text) }, BATCH);
  if (verdict.kind !== 'processed') return undefined;
  const statuses = verdict.results.map(({ status }) => status);
  const countOf = (status: string) => statuses.filter((one) => one === status).length;
  const counts = { created: countOf('created'), duplicate: countOf('duplicate') };
  return counts.created + counts.duplicate === KEYS.length ? counts : undefined;
}

describe('the ordinary results of a batch', () => {
  it('are counted without being parsed, and name its keys', () => {
    const response = bytesOf(responseOf(KEYS, ['ä-1', 'c']));
    expect(storedCounts(response, BATCH)).toEqual({ created: KEYS.length - 2, duplicate: 2 });
    expect(parsedCounts(response)).toEqual({ created: KEYS.length - 2, duplicate: 2 });
    expect(storedKeys(BATCH)).toEqual(KEYS);
  });

  it('are those of its very keys, in order, and nothing else', () => {
    const one = KEYS[0] ?? '';
    const others = [
      [one.replace('9', '8'), ...KEYS.slice(1)],
      KEYS.slice(1),
      [...KEYS, 'more'],
      [...KEYS].reverse(),
      [`${one}x`, ...KEYS.slice(1)],
      [one.slice(0, -1), ...KEYS.slice(1)],
    ];
    for (const keys of others) expect(storedCounts(bytesOf(responseOf(keys)), BATCH)).toBeUndefined();
  });

  it('are parsed where an event has not its key first, or one with an escape', () => {
    const response = bytesOf(responseOf(['a"b']));
    const events = ['{"value":1,"idempotencyKey":"a\\"b"}', '{"idempotencyKey":"a\\"b","value":1}'];
    for (const event of events) expect(storedCounts(response, batchOf([event]))).toBeUndefined();
  });

  it('say nothing else than when they are parsed, whatever becomes of a byte', () => {
    const response = bytesOf(responseOf(KEYS, ['c']));
    let differing = 0;
    // The summary is not looked at.
    for (let at = String(Buffer.from(response)).indexOf('},"results"'); at < response.length; at++) {
      for (const byte of [0x20, 0x22, 0x30, 0x39, 0x5c, 0x61, 0x7d]) {
        const changed = response.slice();
        changed[at] = byte;
        const counts = storedCounts(changed, BATCH);
        if (counts === undefined) differing += 1;
        else expect(counts).toEqual(parsedCounts(changed));
      }
      expect(storedCounts(response.subarray(0, at), BATCH)).toBeUndefined();
    }
    expect(differing).toBeGreaterThan(response.length);
  });
});

it('a body that is no JSON is the fault of the event that is none, if there is one', () => {
  const text = JSON.stringify({ error: { code: 'invalid_json', message: 'As scripted.', requestId: 'r' } });
  const response = { status: 400, header: () => null, text, bytes: bytesOf(text) };
  const spoilt = batchOf(['{"value":1}', '{"value"', '{"value":2}']);
  expect(readVerdict(response, spoilt)).toMatchObject({ kind: 'poison', index: 1 });
  expect(readVerdict(response, BATCH)).toMatchObject({ kind: 'retry', cause: 'changed' });
});
