import { describe, expect, it } from 'vitest';
import { markedNumber, numberText, parseExact, plainText, units } from './exact.ts';
import { aggregate, breakdown, windowSpan, within } from './expected-usage.ts';
import { type PlannedRequest, planRequests } from './generator.ts';
import { createLedger, type KeptEvent, type SeenResponse } from './ledger.ts';
import type { MeantEvent } from './planned-event.ts';
import { inventedWorld, type MeterPlan } from './world.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12, 30);
const world = inventedWorld();

/** The responses of a faultless product, one request after the other. */
function createHonestResponses() {
  const stored = new Map<string, Record<string, unknown>>();
  const store = (event: MeantEvent): Record<string, unknown> => ({
    id: `use_${event.key}`,
    customerId: world.customers[event.customer]?.id,
    meterId: world.meters[event.meter]?.key,
    eventName: 'usage.recorded',
    value: markedNumber(plainText(event.value)),
    status: 'recorded',
    occurredAt: new Date(event.occurredAtMs ?? NOW_MS).toISOString(),
    createdAt: new Date(NOW_MS).toISOString(),
    properties: Object.fromEntries(event.properties.map(({ name, shown }) => [name, shown])),
  });
  const result = (item: PlannedRequest['items'][number], index: number, request: PlannedRequest) => {
    const head = { index: markedNumber(String(index)), idempotencyKey: item.echoedKey };
    if (!item.event) return { ...head, status: 'error', error: { code: item.rejection, message: 'why' } };
    const known = stored.get(item.event.key);
    const event = known ?? store(item.event);
    stored.set(item.event.key, event);
    const status = known ? 'duplicate' : 'created';
    return { ...head, status, eventId: event.id, ...(request.includeEvents ? { event } : {}) };
  };
  return (request: PlannedRequest): SeenResponse => {
    const results = request.items.map((item, at) => result(item, at, request));
    const count = (status: string) => results.filter((one) => one.status === status).length;
    const [created, duplicate, errors] = [count('created'), count('duplicate'), count('error')];
    const summary = parseExact(JSON.stringify({ total: results.length, created, duplicate, errors }));
    const times = { requestedAtMs: NOW_MS, respondedAtMs: NOW_MS };
    if (request.kind !== 'single')
      return { status: 200, replayed: false, body: { summary, results }, ...times };
    const event = (results[0] as { event?: unknown } | undefined)?.event;
    return { status: 201, replayed: duplicate === 1, body: event, ...times };
  };
}

type Spoil = (results: Array<Record<string, unknown>>, request: PlannedRequest) => void;

/** Runs the generator against correct responses, the last batch's altered. */
function problemsWhen(spoil: Spoil): string[] {
  const ledger = createLedger(world);
  const response = createHonestResponses();
  const requests = [...planRequests({ seed: 3, items: 3_000, run: 'a', nowMs: NOW_MS, world })];
  const last = requests.filter(({ kind, includeEvents }) => kind !== 'single' && includeEvents).at(-1);
  for (const request of requests) {
    const seen = response(request);
    if (request === last) spoil((seen.body as { results: Array<Record<string, unknown>> }).results, request);
    ledger.responded(request, seen);
  }
  return ledger.problems();
}

function ofStatus(results: Array<Record<string, unknown>>, status: string): Record<string, unknown> {
  const found = results.find((result) => result.status === status);
  if (!found) throw new Error(`no ${status} in the batch`);
  return found;
}

describe('the ledger', () => {
  it('finds nothing wrong with correct responses', () => {
    expect(problemsWhen(() => {})).toEqual([]);
  });

  const dishonest: Array<[what: string, spoil: Spoil, problem: string]> = [
    [
      'a replay called new',
      (all) => Object.assign(ofStatus(all, 'duplicate'), { status: 'created' }),
      'created 2',
    ],
    [
      'a new event called a replay',
      (all) => Object.assign(ofStatus(all, 'created'), { status: 'duplicate' }),
      '0 times',
    ],
    [
      'another id on a replay',
      (all) => Object.assign(ofStatus(all, 'duplicate'), { eventId: 'use_x' }),
      'id use_x',
    ],
    [
      'a rejection of a valid item',
      (all) => Object.assign(ofStatus(all, 'created'), { status: 'error' }),
      'to be stored',
    ],
    [
      'a success for an invalid item',
      (all) => Object.assign(ofStatus(all, 'error'), { status: 'created' }),
      'expected',
    ],
    ['a missing result', (all) => all.pop(), 'results'],
    ['results out of order', (all) => all.reverse(), 'says index'],
    ['another value', (all) => spoilEvent(all, { value: markedNumber('77') }), 'value is'],
    ['another time', (all) => spoilEvent(all, { occurredAt: '2026-01-01T00:00:00.000Z' }), 'occurredAt is'],
    [
      'the same value in other bytes',
      (all) => all.filter(({ status }) => status === 'duplicate').forEach(respell),
      'other bytes',
    ],
    ['lost properties', (all) => spoilEvent(all, { properties: { lost: true } }), 'properties are'],
  ];

  it.each(dishonest)('notices %s', (_, spoil, problem) => {
    expect(problemsWhen(spoil).join('\n')).toContain(problem);
  });

  /** A request whose first response was lost, and that has received the second one. */
  function repeated() {
    const ledger = createLedger(world);
    const response = createHonestResponses();
    const [request] = planRequests({ seed: 3, items: 100, run: 'a', nowMs: NOW_MS, world });
    if (!request) throw new Error('nothing planned');
    response(request);
    ledger.withoutResponse(request);
    ledger.responded(request, response(request));
    return { ledger, request };
  }

  it('accepts a replay as the first response of an event whose response was lost', () => {
    const { ledger } = repeated();
    expect(ledger.problems()).toEqual([]);
    expect(ledger.size()).toBeGreaterThan(50);
  });

  it('detects an acknowledged event that is stored again, though its first response was lost too', () => {
    const { ledger, request } = repeated();
    const later = { requestedAtMs: NOW_MS + 1, respondedAtMs: NOW_MS + 1 };
    ledger.responded(request, { ...createHonestResponses()(request), ...later });
    expect(ledger.problems().join('\n')).toContain('created again');
  });

  // Red when an event is taken to be as late as the copy whose response arrived first.
  it('accepts a copy sent later whose response arrived before that of the original', () => {
    const ledger = createLedger(world);
    const response = createHonestResponses();
    const requests = [...planRequests({ seed: 3, items: 3_000, run: 'a', nowMs: NOW_MS, world })];
    const request = requests.find(({ includeEvents }) => includeEvents);
    if (!request) throw new Error('nothing planned');
    const made = response(request);
    const laterMs = NOW_MS + 1_000;
    ledger.responded(request, { ...response(request), requestedAtMs: laterMs, respondedAtMs: laterMs });
    ledger.responded(request, { ...made, respondedAtMs: laterMs });
    expect(ledger.problems()).toEqual([]);
  });
});

/** 5 and 5.0 are one value, but a replay returns the bytes of the first response. */
function respell(result: Record<string, unknown>): void {
  const event = result.event as Record<string, unknown>;
  const text = numberText(event.value) ?? '';
  result.event = { ...event, value: markedNumber(text.includes('.') ? `${text}0` : `${text}.0`) };
}

function spoilEvent(results: Array<Record<string, unknown>>, change: Record<string, unknown>): void {
  const result = ofStatus(results, 'created');
  result.event = { ...(result.event as Record<string, unknown>), ...change };
}

describe('expected usage', () => {
  const at = (iso: string, value: string, user?: string): KeptEvent => ({
    event: {
      key: iso,
      customer: 0,
      meter: 0,
      value: units(value),
      occurredAtMs: Date.parse(iso),
      properties: user === undefined ? [] : [{ name: 'user', json: `"${user}"`, label: user, shown: user }],
    },
    id: `use_${value}`,
    createdAtMs: NOW_MS,
    requestedAtMs: NOW_MS,
    respondedAtMs: NOW_MS,
    created: 1,
    shownCrc: undefined,
  });
  const events = [
    at('2026-11-01T00:00:00.000Z', '0.1', 'b'),
    at('2026-10-31T23:59:59.999Z', '0.2', 'a'),
    at('2026-11-20T10:30:00.000Z', '-5', 'a'),
    at('2026-11-20T10:30:00.000Z', '-4'),
  ];
  const meter = (aggregation: MeterPlan['aggregation'], more: Partial<MeterPlan> = {}): MeterPlan => {
    return { key: 'm', aggregation, declared: true, ...more };
  };

  it('aggregates by each rule, the empty set to 0', () => {
    expect(plainText(aggregate(events, meter('sum')))).toBe('-8.7');
    expect(plainText(aggregate(events, meter('count')))).toBe('4');
    expect(plainText(aggregate(events, meter('max')))).toBe('0.2');
    expect(plainText(aggregate(events, meter('unique', { property: 'user' })))).toBe('2');
    expect(aggregate([], meter('max'))).toBe(0n);
  });

  it('orders the latest by time, then createdAt, then id', () => {
    expect(plainText(aggregate(events, meter('latest')))).toBe('-5');
    expect(plainText(aggregate([...events].reverse(), meter('latest')))).toBe('-5');
  });

  /** Red when the judge goes by ids as it did before the product kept the order. */
  it('orders events of the same time by their arrival, and those of earlier stories by their ids', () => {
    const twins = [events[0], events[0]].map((event, at) => {
      if (!event) throw new Error('there are events');
      return { ...event, id: `use_${1 - at}`, order: at, event: { ...event.event, value: BigInt(at) } };
    });
    expect(aggregate(twins, meter('latest'))).toBe(1n);
    const earlier = twins.map(({ order: _, ...event }) => event);
    expect(aggregate(earlier, meter('latest'))).toBe(0n);
  });

  it('groups, sorts by total and then value, and prices each group', () => {
    const found = breakdown(events, meter('sum', { creditRate: '2' }), 'user');
    const rows = found.items.map(({ value, total, count, creditCost }) => {
      return [value, plainText(total), count, plainText(creditCost)];
    });
    expect(rows).toEqual([
      ['b', '0.1', 1, '0.2'],
      ['', '-4', 1, '-8'],
      ['a', '-4.8', 2, '-9.6'],
    ]);
  });

  it('prices by the labels of a property, and the rest by the plain rate', () => {
    const rates = { creditRate: '2', creditRates: { property: 'user', rates: { a: '10' } } };
    const found = breakdown(events, meter('sum', rates), '$month');
    expect(found.items.map(({ value, creditCost }) => [value, plainText(creditCost)])).toEqual([
      ['2026-10', '2'],
      ['2026-11', '-57.8'],
    ]);
    expect(plainText(found.totalCreditCost)).toBe('-55.8');
  });

  it('takes windows half-open, months and weeks by the UTC calendar', () => {
    expect(within(events, windowSpan('month', NOW_MS))).toHaveLength(3);
    expect(within(events, windowSpan('all', NOW_MS))).toHaveLength(4);
    const week = windowSpan('week', NOW_MS);
    expect(new Date(week.fromMs).toISOString()).toBe('2026-11-16T00:00:00.000Z');
    expect(week.toMs - week.fromMs).toBe(7 * 86_400_000);
  });
});
