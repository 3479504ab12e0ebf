import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addMonths, cycleOf, later, type PeriodLength } from '../../domain/rules/billing-period.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import { fieldsOfTerm } from '../subscriptions/subscription-fields.ts';
import { daysLater as at, DAY_MS, PLAIN, START } from './clock-under-test.ts';
import { dueChange } from './due-change.ts';

/*
 * What time does to a subscription, against a simulation that applies one change after the other.
 *
 * Mutants this suite catches: the end of the trial or the period before the cancellation; a period rolled of
 * a subscription with a processor; a canceled one rolled up to now; the time of detection used as the time of
 * the change; a roll before its pause is over, or no pause after it; a pending plan applied before the end of
 * the period, or kept after it or after the end of its subscription; the processor's grace ignored, or
 * applied to a cancellation that was requested through the API; the time of a test clock used as ours.
 */
const START_MS = START.getTime();

/** Days from the start, on a grid, so that several changes are due at the same time. */
const day = fc.integer({ min: 0, max: 200 });
const row = fc
  .record({
    status: fc.constantFrom('incomplete', 'trialing', 'active', 'paused', 'canceled' as const),
    isProcessors: fc.boolean(),
    length: fc.oneof(fc.constant('month' as const), fc.integer({ min: 1, max: 60 })),
    firstEnd: fc.option(fc.integer({ min: 1, max: 90 })),
    pendingPlanId: fc.option(fc.constant('plan_b')),
    trialEnd: fc.option(day),
    cancelAt: fc.option(day),
    noRollBefore: fc.option(day),
    isCancelProcessors: fc.boolean(),
    isSimulated: fc.boolean(),
  })
  .map(({ status, isProcessors, length, firstEnd, trialEnd, cancelAt, noRollBefore, ...rest }) => {
    const { isCancelProcessors, isSimulated, ...others } = rest;
    return rowOf({
      status,
      ...others,
      planVersion: 3,
      ...beginning(
        length === 'month'
          ? { interval: 'month', intervalCount: 1 }
          : { interval: 'day', intervalCount: length },
        firstEnd === null ? undefined : at(firstEnd),
      ),
      processorSubscriptionId: isProcessors ? 'si' : null,
      processorSimulated: isProcessors && isSimulated,
      processorCancelAt: isProcessors && isCancelProcessors && cancelAt !== null ? at(cancelAt) : null,
      trialEnd: trialEnd === null ? null : at(trialEnd),
      cancelAt: cancelAt === null ? null : at(cancelAt),
      noRollBefore: noRollBefore === null ? null : at(noRollBefore),
    });
  });

describe('what is due', () => {
  it('is what would have happened one after the other', () => {
    fc.assert(
      fc.property(row, day, (of, days) => {
        const now = at(days);
        const expected = simulate(of, now);
        let last = of;
        for (let due = dueChange(last, now.getTime()); due; due = dueChange(last, now.getTime())) {
          last = { ...last, ...due.fields };
        }
        expect(last).toEqual(expected);
        expect(last === of).toBe(isSame(of, expected));
        // Nothing is due twice.
        expect(dueChange(expected, now.getTime())).toBeUndefined();
      }),
      { numRuns: 5_000 },
    );
  });

  it('at the same time is the cancellation, then the end of the trial, then that of the period', () => {
    const period = everyDays(7);
    const trial = rowOf({ ...period, status: 'trialing', trialEnd: at(7) });
    const canceled = dueChange({ ...trial, cancelAt: at(7) }, at(20).getTime());
    expect(canceled).toMatchObject({
      action: 'subscriptions.cancel',
      fields: { status: 'canceled', canceledAt: at(7), statusSince: at(7) },
    });
    expect(canceled?.fields).not.toHaveProperty('currentPeriodEnd');
    expect(dueChange(trial, at(20).getTime())).toMatchObject({
      action: 'subscriptions.endTrial',
      fields: { status: 'active', statusSince: at(7), currentPeriodStart: at(14), currentPeriodEnd: at(21) },
    });
  });

  it('is the end of a trial before a later cancellation, in the period that is canceled', () => {
    const trial = rowOf({ ...everyDays(7), status: 'trialing', trialEnd: at(7), cancelAt: at(16) });
    const ended = dueChange(trial, at(30).getTime());
    const running = { currentPeriodStart: at(14), currentPeriodEnd: at(21) };
    expect(ended).toMatchObject({ action: 'subscriptions.endTrial', since: at(7), fields: running });
    const canceled = dueChange({ ...trial, ...ended?.fields }, at(30).getTime());
    expect(canceled).toMatchObject({ action: 'subscriptions.cancel', since: at(16) });
    expect(canceled?.fields).not.toHaveProperty('currentPeriodEnd');
  });

  it('begins with its very millisecond', () => {
    const of = rowOf({ status: 'trialing', trialEnd: at(3) });
    expect(dueChange(of, at(3).getTime() - 1)).toBeUndefined();
    expect(dueChange(of, at(3).getTime())?.action).toBe('subscriptions.endTrial');
  });

  it('of periods of a millisecond is one roll in ten seconds, over as many as have passed', () => {
    let of = rowOf(beginning({ interval: 'day', intervalCount: 1, legacyIntervalMs: 1 }));
    const rolls: number[] = [];
    for (let ms = 0; ms <= 25_000; ms += 1) {
      const change = dueChange(of, START_MS + ms);
      if (!change) continue;
      rolls.push(ms);
      of = { ...of, ...change.fields };
      expect(of.currentPeriodStart).toEqual(new Date(START_MS + ms));
    }
    expect(rolls).toEqual([1, 10_001, 20_001]);
    const trial = { ...of, status: 'trialing' as const, trialEnd: new Date(START_MS + 25_001) };
    expect(dueChange(trial, START_MS + 25_001)?.action).toBe('subscriptions.endTrial');
  });

  it('of a trial of 14 days is a month from its end on, and no part of the trial is in it', () => {
    const length = { interval: 'month', intervalCount: 1 } as const;
    const trial = rowOf({ ...beginning(length, at(14)), status: 'trialing', trialEnd: at(14) });
    expect(dueChange(trial, at(14).getTime())?.fields).toMatchObject({
      status: 'active',
      currentPeriodStart: at(14),
      currentPeriodEnd: new Date(addMonths(at(14).getTime(), 1)),
    });
  });

  it('of a subscription with a processor waits for its word for three days, to the millisecond', () => {
    const trial = rowOf({ status: 'trialing', trialEnd: at(3), processorSubscriptionId: 'si' });
    expect(dueChange(trial, at(6).getTime() - 1)).toBeUndefined();
    const fields = { status: 'active', statusSince: at(3) };
    expect(dueChange(trial, at(6).getTime())).toMatchObject({ action: 'subscriptions.endTrial', fields });
    const canceled = { ...trial, cancelAt: at(2), processorCancelAt: at(2) };
    expect(dueChange(canceled, at(5).getTime() - 1)).toBeUndefined();
    expect(dueChange(canceled, at(5).getTime())?.fields.canceledAt).toEqual(at(2));
    const setHere = { ...canceled, processorCancelAt: at(9) };
    expect(dueChange(setHere, at(2).getTime())?.fields.canceledAt).toEqual(at(2));
    const simulated = { ...canceled, processorSimulated: true };
    expect(dueChange(simulated, at(900).getTime())).toBeUndefined();
  });

  it('was not before the status that it ends', () => {
    const of = rowOf({ status: 'active', statusSince: at(5), cancelAt: at(1) });
    expect(dueChange(of, at(6).getTime())?.fields.canceledAt).toEqual(at(5));
  });
});

/** The naive simulation: applies the next due change until none is left. */
function simulate(of: SubscriptionRow, now: Date): SubscriptionRow {
  let state = of;
  for (;;) {
    const isEnded = state.status === 'canceled' || state.status === 'incomplete_expired';
    const { cancelAt, trialEnd, currentPeriodEnd: end } = state;
    const dues: Array<[Date, Partial<SubscriptionRow>]> = [];
    if (cancelAt) {
      const isTheirs = state.processorCancelAt !== null;
      const fields = { status: 'canceled', statusSince: cancelAt, canceledAt: cancelAt } as const;
      dues.push([noticed(state, cancelAt, isTheirs), { ...fields, pendingPlanId: null }]);
    }
    if (state.status === 'trialing' && trialEnd) {
      const isTheirs = state.processorSubscriptionId !== null;
      dues.push([noticed(state, trialEnd, isTheirs), { status: 'active', statusSince: trialEnd }]);
    }
    if (state.processorSubscriptionId === null) {
      const planId = state.pendingPlanId;
      const plan = planId === null ? {} : { planId, planVersion: null, pendingPlanId: null };
      dues.push([end, { currentPeriodStart: end, currentPeriodEnd: nextEnd(state), ...plan }]);
    }
    const next = dues.filter(([time]) => time <= now).sort(([a], [b]) => a.getTime() - b.getTime())[0];
    if (isEnded || !next) return withPause(of, state, now);
    state = { ...state, ...next[1] };
  }
}

/** Three days after a time that the processor reports; never for the time of a test clock. */
function noticed({ processorSimulated }: SubscriptionRow, time: Date, isTheirs: boolean): Date {
  if (!isTheirs) return time;
  return processorSimulated ? at(1_000_000) : new Date(time.getTime() + 3 * DAY_MS);
}

/**
 * A roll waits for its pause to end, but for that of the end of a trial; and every roll begins a pause,
 * except where the subscription is canceled.
 */
function withPause(of: SubscriptionRow, state: SubscriptionRow, now: Date): SubscriptionRow {
  const isRolled = of.currentPeriodEnd.getTime() !== state.currentPeriodEnd.getTime();
  if (!isRolled || state.status === 'canceled') return state;
  const isTrialOver = of.status !== state.status && of.trialEnd && of.currentPeriodEnd <= of.trialEnd;
  const { status, statusSince } = state;
  if (!isTrialOver && of.noRollBefore && of.noRollBefore > now) return { ...of, status, statusSince };
  return { ...state, noRollBefore: new Date(now.getTime() + 10_000) };
}

function nextEnd({ anchor, currentPeriodEnd: end, interval, intervalCount }: SubscriptionRow): Date {
  if (interval === 'day') return new Date(end.getTime() + intervalCount * DAY_MS);
  let months = intervalCount;
  while (addMonths(anchor.getTime(), months) <= end.getTime()) months += intervalCount;
  return new Date(addMonths(anchor.getTime(), months));
}

function isSame(a: SubscriptionRow, b: SubscriptionRow): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The first period ends then, whether or not it is one interval long. */
function beginning(length: PeriodLength, end = new Date(later(length, START_MS, 1))) {
  const period = { fromMs: START_MS, toMs: end.getTime() };
  return fieldsOfTerm({ cycle: cycleOf(period, length), period });
}

function everyDays(intervalCount: number) {
  return beginning({ interval: 'day', intervalCount });
}

function rowOf(fields: Partial<SubscriptionRow>): SubscriptionRow {
  return {
    id: 'sub_a',
    customerId: 'cus_a',
    planId: 'plan_a',
    planName: 'A',
    ...PLAIN,
    ...everyDays(1_000),
    addons: [],
    ...fields,
  };
}
