import type { Logger } from 'pino';
import { type PrivateTargets, targetsOf } from '../../infra/platform/private-targets.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { DeliveryMetrics } from '../metrics.ts';
import { ATTEMPT_TIMEOUT_MS, type Attempt, type Send } from '../send/send.ts';
import type { Target } from '../send/signing-target.ts';
import type { DueDelivery } from '../store/take-due.ts';
import { type Verdict, verdictOf } from './delivery-verdict.ts';

/** A delivery that was taken, and where it is sent. */
export interface Job {
  delivery: DueDelivery;
  target: Target;
}

export interface AttemptDeps {
  send: Send;
  clock: Clock;
  random: () => number;
  log: Logger;
  metrics: DeliveryMetrics;
  /** The addresses that may be sent to in addition to public ones. */
  privateTargets: PrivateTargets;
}

/**
 * One attempt, under its lease. Undefined where too little of the lease was left for one: another process may
 * have taken it before this attempt has ended. Never rejects.
 */
export async function attemptJob(deps: AttemptDeps, { delivery, target }: Job): Promise<Verdict | undefined> {
  const { clock, metrics, random } = deps;
  const startedAtMs = clock.nowMs();
  if (startedAtMs > delivery.leaseUntil.getTime() - ATTEMPT_TIMEOUT_MS) return undefined;
  if (delivery.attempts === 0) metrics.firstAttempt(startedAtMs - delivery.eventCreatedAt.getTime());
  const attempt =
    target.secrets.length > 0 ? await sendTo(deps, { delivery, target }) : unsigned(deps, delivery);
  metrics.attempted(attempt.outcome);
  const { updatedAt: endpointUpdatedAt } = target;
  return verdictOf(delivery, attempt, { endpointUpdatedAt, startedAtMs, endedAtMs: clock.nowMs(), random });
}

function sendTo(
  { send, privateTargets: configured }: AttemptDeps,
  { delivery, target }: Job,
): Promise<Attempt> {
  // mutant: new-id-for-a-retry
  const { eventId, body, attempts } = delivery;
  const privateTargets = targetsOf(configured, delivery.environment);
  const { url, secrets } = target;
  return send.send({ url, eventId, body, secrets, privateTargets, attemptNumber: attempts + 1 });
}

function unsigned({ log }: AttemptDeps, { endpointId }: DueDelivery): Attempt {
  log.error({ endpoint: endpointId }, 'the signing secret of a webhook endpoint does not open');
  return { outcome: 'failed', durationMs: 0, requestHead: '' };
}
