import type { WatchedJob } from '../../domain/job-watch.ts';
import { EVERY_MS } from '../../domain/leased-job.ts';
import { CLOCK_REPAIR } from '../clock/clock-repair.ts';
import { SUBSCRIPTION_CLOCK } from '../clock/subscription-clock.ts';
import { CREDIT_EXPIRY } from '../credits/credit-expiry.ts';
import { CHANGE_NOTIFIER } from '../entitlements/changes/change-notifier.ts';
import { EVERY_MS as MATCHER_EVERY_MS, PROCESSOR_MATCHER } from '../processor/processor-matcher.ts';
import { LOG_WATCH } from './log-watch.ts';
import { OLD_ROWS_SWEEP } from './old-rows-sweep.ts';

/** The leased jobs that each control plane is ready to do, and what stands still without them. */
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
      stops: 'credits that have expired are not taken out of wallets',
    },
    {
      ...CHANGE_NOTIFIER,
      stops: 'nobody is told of entitlements that a plan or time has changed',
    },
    {
      job: PROCESSOR_MATCHER,
      everyMs: MATCHER_EVERY_MS,
      stops: 'processor events that waited for a mapping are not applied',
    },
    ...(watchesLog
      ? [{ ...LOG_WATCH, stops: 'nobody looks whether Kafka gives up what is not loaded' }]
      : []),
    { ...CLOCK_REPAIR, stops: 'moments of a clock that was ahead are not brought back' },
    { ...OLD_ROWS_SWEEP, stops: 'old answers, processor events and funnel events are not removed' },
  ];
}
