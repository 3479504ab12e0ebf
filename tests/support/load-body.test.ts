import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createLoadBody } from './load-body.ts';

const options = {
  host: 'localhost:8080',
  key: 'sk_test_x',
  customers: ['cus_a', 'cus_b'],
  meterKeys: ['m'],
  batch: 50,
  replays: 0.5,
  properties: ['p0', 'p1', 'p2', 'p3'],
  nowMs: Date.UTC(2026, 10, 22),
  seed: 3,
  keyPrefix: 'run-0-',
};

interface SentItem {
  idempotencyKey: string;
  customerId: string;
  value: number;
  properties: object;
}

function itemsOf(request: Buffer, isGzip = false): SentItem[] {
  const bodyAt = request.indexOf('\r\n\r\n') + 4;
  const [, length] = /Content-Length: (\d+)/.exec(request.toString('latin1', 0, bodyAt)) ?? [];
  const body = request.subarray(bodyAt);
  expect(body.length).toBe(Number(length));
  return (JSON.parse((isGzip ? gunzipSync(body) : body).toString()) as { events: SentItem[] }).events;
}

describe('a body of the load tester', () => {
  it('replays only what was acknowledged, exactly as it was', () => {
    const body = createLoadBody(options);
    const seen = new Map<string, string>();
    let replays = 0;
    for (let turn = 0; turn < 20; turn++) {
      const { request, replayed } = body.next();
      for (const [at, item] of itemsOf(request).entries()) {
        const text = JSON.stringify(item);
        expect(seen.get(item.idempotencyKey)).toBe(replayed[at] === 1 ? text : undefined);
        seen.set(item.idempotencyKey, text);
      }
      replays += replayed.reduce((sum, one) => sum + one, 0);
      body.acknowledged();
    }
    // Half of all but the first turn, by a seeded chance.
    expect(replays).toBeGreaterThan(400);
    expect(replays).toBeLessThan(550);
  });

  it('replays nothing of a send that was not acknowledged', () => {
    const body = createLoadBody(options);
    for (let turn = 0; turn < 5; turn++) expect(body.next().replayed.every((one) => one === 0)).toBe(true);
  });

  it('names the customer and the value of each event', () => {
    const { request, customers, thousandths } = createLoadBody(options).next();
    for (const [at, item] of itemsOf(request).entries()) {
      expect(item.customerId).toBe(options.customers[customers[at] ?? 9]);
      expect(Math.round(item.value * 1_000)).toBe(thousandths[at]);
      expect(Object.keys(item.properties)).toHaveLength(4);
    }
  });

  it('packs the same body', () => {
    const packed = createLoadBody({ ...options, gzip: true }).next();
    const plain = createLoadBody(options).next();
    expect(itemsOf(packed.request, true)).toEqual(itemsOf(plain.request));
  });

  it('is a request to the single endpoint when it holds one event', () => {
    const { request, kind } = createLoadBody({ ...options, batch: 1 }).next();
    const text = request.toString();
    expect(kind).toBe('single');
    expect(text).toMatch(/^POST \/api\/v1\/usage\/events HTTP/);
    expect(text).toContain('Idempotency-Key: run-0-000000000000\r\n');
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).not.toHaveProperty('events');
  });
});
