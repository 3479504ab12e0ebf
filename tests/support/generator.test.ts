import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { numberText, parseExact, plainText, product, units } from './exact.ts';
import { planRequests } from './generator.ts';
import { CUSTOMERS, inventedWorld, METERS } from './world.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12, 30);
const DAY_MS = 86_400_000;

const world = inventedWorld();

function plan(items: number, seed = 7) {
  return [...planRequests({ seed, items, run: 'a', nowMs: NOW_MS, world })];
}

describe('the generator', () => {
  const requests = plan(40_000);
  const items = requests.flatMap((request) => request.items);
  const events = items.flatMap(({ event }) => event ?? []);

  it('gives the same requests for the same seed, and others for another', () => {
    expect(plan(2_000).map(({ body }) => body)).toEqual(plan(2_000).map(({ body }) => body));
    expect(plan(2_000, 8)[0]?.body).not.toBe(requests[0]?.body);
  });

  it('plans the requested number of items, at most 500 in a request', () => {
    expect(items).toHaveLength(40_000);
    expect(Math.max(...requests.map((request) => request.items.length))).toBe(500);
  });

  it('replays a fifth: within batches, across them and through the single endpoint', () => {
    const seen = new Map<string, number>();
    const replays = { within: 0, across: 0, single: 0 };
    requests.forEach((request, at) => {
      for (const { key } of request.items.flatMap(({ event }) => event ?? [])) {
        const first = seen.get(key);
        if (first === undefined) seen.set(key, at);
        else if (request.kind === 'single') replays.single++;
        else replays[first === at ? 'within' : 'across']++;
      }
    });
    expect((events.length - seen.size) / events.length).toBeCloseTo(0.2, 1);
    for (const count of Object.values(replays)) expect(count).toBeGreaterThan(20);
  });

  it('has a meter of each aggregation', () => {
    expect(new Set(METERS.map(({ aggregation }) => aggregation))).toEqual(new Set(AGGREGATIONS));
  });

  it('covers every customer, meter, rejection and kind of request', () => {
    // Several seeds: some combinations are rare.
    const all = [...requests, ...[8, 9, 10].flatMap((seed) => plan(40_000, seed))];
    const planned = all.flatMap((request) => request.items);
    const customerMeters = planned.flatMap(({ event }) => (event ? `${event.customer}/${event.meter}` : []));
    expect(new Set(customerMeters).size).toBe(CUSTOMERS.length * METERS.length);
    expect(new Set(all.map(({ kind, gzip }) => `${kind} ${gzip}`)).size).toBe(5);
    const rejections = new Set(planned.flatMap(({ rejection }) => rejection ?? []));
    expect([...rejections].sort()).toEqual([
      'customer_not_found',
      'event_in_future',
      'event_too_old',
      'idempotency_key_missing',
      'idempotency_key_reused',
      'invalid_request',
      'value_invalid',
    ]);
  });

  it('spreads events out of order over forty days, some exactly on and just before a bound', () => {
    const times = events.flatMap(({ occurredAtMs }) => occurredAtMs ?? []);
    expect(Math.min(...times)).toBeLessThan(NOW_MS - 39 * DAY_MS);
    expect(times.some((ms, at) => ms < (times[at - 1] ?? 0))).toBe(true);
    const month = Date.UTC(2026, 10, 1);
    expect(times.filter((ms) => ms === month).length).toBeGreaterThan(3);
    expect(times.filter((ms) => ms === month - 1).length).toBeGreaterThan(3);
    expect(times.filter((ms) => ms % 3_600_000 === 0).length).toBeGreaterThan(1_000);
  });

  it('plans values of twelve fraction digits, negative ones and ones that no double holds', () => {
    const values = events.map(({ value }) => value);
    expect(values.some((value) => value % 10n !== 0n)).toBe(true);
    expect(values.some((value) => value < 0n)).toBe(true);
    expect(values.some((value) => units(String(Number(plainText(value)))) !== value)).toBe(true);
  });

  it('writes bodies that say what their items mean', () => {
    for (const { kind, body, items: planned } of requests.slice(0, 40)) {
      if (kind !== 'batch') continue;
      const sent = (parseExact(body) as { events: Array<Record<string, unknown> | null> }).events;
      planned.forEach(({ event, echoedKey }, at) => {
        if (!event) return;
        expect(sent[at]?.idempotencyKey).toBe(echoedKey);
        expect(units(numberText(sent[at]?.value) ?? '')).toBe(event.value);
      });
    }
  });
});

describe('decimals of the judge', () => {
  const decimal = fc.tuple(fc.bigInt(-(10n ** 27n), 10n ** 27n)).map(([value]) => value);

  it('read back what they print', () => {
    fc.assert(fc.property(decimal, (value) => units(plainText(value)) === value));
  });

  it('read exponents and trailing zeros', () => {
    const texts: Array<[string, string]> = [
      ['1e2', '100'],
      ['1.50', '1.5'],
      ['-0', '0'],
      ['25e-1', '2.5'],
      ['1E-12', '0.000000000001'],
      ['0.10000000000000', '0.1'],
    ];
    for (const [text, plain] of texts) expect(plainText(units(text))).toBe(plain);
    expect(() => units('0.0000000000001')).toThrow();
    expect(() => units('1x')).toThrow();
  });

  it('multiply exactly', () => {
    expect(plainText(product(units('0.1'), units('-0.25')))).toBe('-0.025');
  });
});
