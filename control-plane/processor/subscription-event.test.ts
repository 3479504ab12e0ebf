import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rejected } from '../../schemas/failures.ts';
import { SUBSCRIPTION_STATUSES } from '../../schemas/value-sets.ts';

import { readSubscriptionEvent } from './subscription-event.ts';

/*
 * Mutants this suite catches: the items' period not read; seconds used as milliseconds; the deletion's own
 * status used; rank left out of the order; null read as absent; any future time accepted.
 */
const CREATED = 1_767_225_600;
/** As far behind as the processor's clock may be ahead. */
const NOW_MS = (CREATED - 300) * 1000;
const [FROM, TO] = [1_767_000_000, 1_769_000_000];

function event(object: object, type = 'customer.subscription.updated', more: object = {}): string {
  const subscription = { id: 'sub_1', status: 'active', ...object };
  return JSON.stringify({ id: 'evt_1', type, created: CREATED, data: { object: subscription }, ...more });
}

const LIVE = { mode: 'live', nowMs: NOW_MS } as const;
const TEST = { mode: 'test', nowMs: NOW_MS } as const;
const read = (object: object, type?: string) => readSubscriptionEvent(event(object, type), LIVE);

describe('an event of the processor', () => {
  it('reads status, its time, period, cancelAt and trialEnd', () => {
    const notified = read({
      current_period_start: FROM,
      current_period_end: TO,
      cancel_at: TO + 1,
      trial_end: null,
    });
    expect(notified).toEqual({
      id: 'evt_1',
      type: 'customer.subscription.updated',
      processorSubscriptionId: 'sub_1',
      changedAtMs: CREATED * 1000 + 1,
      isSimulated: false,
      status: 'active',
      statusSinceMs: CREATED * 1000,
      period: { fromMs: FROM * 1000, toMs: TO * 1000 },
      cancelAtMs: (TO + 1) * 1000,
      trialEndMs: null,
    });
  });

  it('has no value for what it leaves out', () => {
    expect(Object.keys(read({}) ?? {}).sort()).toEqual([
      'changedAtMs',
      'id',
      'isSimulated',
      'processorSubscriptionId',
      'status',
      'statusSinceMs',
      'type',
    ]);
  });

  it('has its period on the subscription, or on the item that ends first', () => {
    const span = (from: unknown, to: unknown) => ({ current_period_start: from, current_period_end: to });
    const items = { data: [span(FROM, TO + 9), span(FROM + 5, TO), span(TO, FROM), {}] };
    expect(read({ items })?.period).toEqual({ fromMs: (FROM + 5) * 1000, toMs: TO * 1000 });
    expect(read({ items, ...span(1, 2) })?.period).toEqual({ fromMs: 1000, toMs: 2000 });
    expect(read({ items, ...span(null, null) })?.period?.toMs).toBe(TO * 1000);
    expect(read({ ...span(TO, TO), items: { data: [] } })?.period).toBeUndefined();
  });

  it('is canceled at the end of its period if the event contains that', () => {
    const period = { current_period_start: FROM, current_period_end: TO };
    expect(read({ ...period, cancel_at: null, cancel_at_period_end: true })?.cancelAtMs).toBe(TO * 1000);
    expect(read({ ...period, cancel_at: null, cancel_at_period_end: false })?.cancelAtMs).toBeNull();
    expect(read({ cancel_at: FROM, cancel_at_period_end: true })?.cancelAtMs).toBe(FROM * 1000);
  });

  it('has ended when it is deleted, at the time that it names', () => {
    const type = 'customer.subscription.deleted';
    expect(read({ ended_at: CREATED - 5 }, type)).toMatchObject({
      status: 'canceled',
      statusSinceMs: (CREATED - 5) * 1000,
    });
    expect(read({ status: 'incomplete_expired' }, type)?.status).toBe('incomplete_expired');
    expect(read({ ended_at: CREATED - 5 })?.statusSinceMs).toBe(CREATED * 1000);
  });

  it('comes first in its second where it is the creation, and last where it is the end', () => {
    const order = (type: string, status = 'active') =>
      read({ status }, `customer.subscription.${type}`)?.changedAtMs;
    expect([
      order('created', 'incomplete'),
      order('updated'),
      order('paused', 'paused'),
      order('updated', 'canceled'),
      order('deleted'),
      order('created', 'canceled'),
    ]).toEqual([0, 1, 1, 2, 2, 2].map((rank) => CREATED * 1000 + rank));
  });

  it('takes each status that a subscription can have', () => {
    for (const status of SUBSCRIPTION_STATUSES) expect(read({ status })?.status).toBe(status);
  });

  it('of another type is none, whatever it contains', () => {
    for (const type of ['invoice.paid', 'customer.updated', 'customer.subscription', '']) {
      expect(read({ status: 'x' }, type)).toBeUndefined();
    }
  });

  it('is paused while payments are not collected, but where it has ended or gives nothing anyway', () => {
    const pause = { pause_collection: { behavior: 'void' } };
    const paused = SUBSCRIPTION_STATUSES.filter((status) => read({ status, ...pause })?.status === 'paused');
    expect(paused).toEqual(['trialing', 'active', 'past_due', 'paused']);
    for (const pause_collection of [null, undefined]) {
      expect(read({ status: 'trialing', pause_collection })?.status).toBe('trialing');
    }
    expect(read(pause, 'customer.subscription.deleted')?.status).toBe('canceled');
  });

  it('of a test clock may be of any time, in test mode alone', () => {
    const ahead = { created: CREATED + 400_000_000 };
    const simulated = event({ test_clock: 'clock_1' }, undefined, ahead);
    expect(readSubscriptionEvent(simulated, TEST)).toMatchObject({ isSimulated: true });
    const expanded = event({ test_clock: { id: 'clock_1', frozen_time: 1 } }, undefined, { created: 1 });
    expect(readSubscriptionEvent(expanded, TEST)).toMatchObject({ isSimulated: true, changedAtMs: 1001 });
    expect(rejectionOf(simulated)).toMatchObject({ param: 'created' });
    expect(read({ test_clock: null })?.isSimulated).toBe(false);
  });

  it('is of the mode of its path, whatever it is about', () => {
    for (const type of ['customer.subscription.updated', 'invoice.paid']) {
      const [live, test] = [true, false].map((livemode) => event({}, type, { livemode })) as [string, string];
      expect(rejectionOf(test)).toMatchObject({ code: 'invalid_request', param: 'livemode' });
      expect(() => readSubscriptionEvent(live, TEST)).toThrow('The event is of live mode');
      expect(() => readSubscriptionEvent(test, TEST)).not.toThrow();
      expect(() => readSubscriptionEvent(live, LIVE)).not.toThrow();
    }
  });

  const rejected: Array<[param: string, text: string]> = [
    ['data.object.status', event({ status: 'frozen' })],
    ['data.object.id', event({ id: 'a\u0000' })],
    ['data.object.id', event({ id: 7 })],
    ['data.object.cancel_at', event({ cancel_at: 'soon' })],
    ['data.object.trial_end', event({ trial_end: 1e15 })],
    ['data.object.current_period_end', event({ current_period_end: -1 })],
    ['data.object.items.data', event({ items: {} })],
    ['data', event({}, undefined, { data: undefined })],
    ['id', event({}, undefined, { id: '\ud800' })],
    ['created', event({}, undefined, { created: 1.5 })],
    ['created', event({}, undefined, { created: CREATED + 1 })],
    ['type', event({}, undefined, { type: null })],
  ];
  it.each(rejected)('is rejected for %s', (param, text) => {
    expect(rejectionOf(text)).toMatchObject({ code: 'invalid_request', param });
  });

  it('is rejected without a crash, whatever JSON it is', () => {
    expect(rejectionOf('{"id":')).toMatchObject({ code: 'invalid_json' });
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(rejectionOf(text)).toMatchObject({ code: 'invalid_request' });
      }),
      { numRuns: 500 },
    );
  });
});

function rejectionOf(text: string): unknown {
  try {
    return readSubscriptionEvent(text, LIVE);
  } catch (error) {
    if (error instanceof Rejected) return error.rejection;
    throw error;
  }
}
