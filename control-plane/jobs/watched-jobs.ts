import type { WatchedJob } from '../../domain/job-watch.ts';
import { EVERY_MS } from '../../domain/leased-job.ts';
import { CLOCK_REPAIR } from '../clock/clock-repair.ts';
import { SUBSCRIPTION_CLOCK } from '../clock/subscription-clock.ts';
import { USAGE_CORRECTIONS } from '../corrections/corrections-job.ts';
import { SIMULATOR } from '../cost/simulator.ts';
import { CREDIT_EXPIRY } from '../credits/credit-expiry.ts';
import { CREDIT_SCHEDULE } from '../credits/credit-schedule.ts';
import { CHANGE_NOTIFIER } from '../entitlements/changes/change-notifier.ts';
import { EVERY_MS as MATCHER_EVERY_MS, PROCESSOR_MATCHER } from '../processor/processor-matcher.ts';
import { RESERVATION_EXPIRY } from '../reservations/reservation-expiry.ts';
import { LOG_WATCH } from './log-watch.ts';
import { OLD_ROWS_SWEEP } from './old-rows-sweep.ts';

/** The leased jobs that every control plane can run, and what stops without them. */
export function watchedJobs({ watchesLog }: { watchesLog: boolean }): WatchedJob[] {
  return [
    {
      job: SUBSCRIPTION_CLOCK,
      everyMs: EVERY_MS,
      stops: 'trials do not end, cancellations do not happen and periods do not roll',
    },
    {
      job: CREDIT_EXPIRY,
      everyMs: EVERY_MS,
      stops: 'expired credits are not removed from wallets',
    },
    {
      job: CREDIT_SCHEDULE,
      everyMs: EVERY_MS,
      stops: 'credits that a plan grants each month, or at a later start, are not granted',
    },
    {
      job: RESERVATION_EXPIRY,
      everyMs: EVERY_MS,
      stops: 'expired reservations stay open until the next one of their customer',
    },
    {
      ...CHANGE_NOTIFIER,
      stops: 'customers are not notified of entitlements changed by a plan or by time',
    },
    {
      job: PROCESSOR_MATCHER,
      everyMs: MATCHER_EVERY_MS,
      stops: 'processor events that waited for a mapping are not applied',
    },
    ...(watchesLog
      ? [{ ...LOG_WATCH, stops: 'no warning is given before Kafka deletes events that are not loaded' }]
      : []),
    { ...CLOCK_REPAIR, stops: 'times in the future, left by a clock that ran ahead, are not reset' },
    { ...SIMULATOR, stops: 'simulations do not proceed' },
    { ...USAGE_CORRECTIONS, stops: 'corrections of much usage do not proceed, nor those that a crash left' },
    {
      ...OLD_ROWS_SWEEP,
      stops: 'old responses, processor events, funnel events, simulations and reservations are not removed',
    },
  ];
}
