import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import { insertAuditEntry } from '../../domain/store/insert-audit-entry.ts';
import {
  type CircuitRow,
  type DisabledReason,
  disableEndpoint,
  lockCircuits,
  writeCircuit,
} from '../store/endpoints.ts';
import { findRecorded } from '../store/record-attempts.ts';
import { afterAttempt, isGivenUp } from './circuit.ts';
import type { Verdict } from './delivery-verdict.ts';

export interface AfterVerdicts {
  random: () => number;
  log: Logger;
}

export interface Consequences {
  /** Endpoints that are not to be sent to for now. */
  pausedIds: string[];
  /** As they are to be recorded. */
  verdicts: Verdict[];
}

/**
 * What attempts show of their endpoints: circuits open and close, and endpoints that want nothing any more,
 * or have failed for days, are disabled. Within the transaction that records the attempts. An endpoint that
 * was changed meanwhile is another: the outcome of the one before shows nothing of it, and what that one
 * wanted no more is sent to it. What was recorded before, and is only recorded again, has been applied
 * already.
 */
export async function afterVerdicts(
  db: PoolClient,
  verdicts: readonly Verdict[],
  { random, log }: AfterVerdicts,
): Promise<Consequences> {
  const isSuccess = ({ state }: Verdict) => state === 'succeeded';
  const circuits = await lockCircuits(db, {
    failed: endpointsOf(verdicts.filter((one) => !isSuccess(one))),
    succeeded: endpointsOf(verdicts.filter(isSuccess)),
  });
  // After taking the locks: a COMMIT that is still running holds them, and this waits for it.
  const recorded = circuits.length > 0 ? await findRecorded(db, verdicts) : new Set<Verdict>();
  // mutant: failures-counted-again
  const fresh = verdicts.filter((one) => !recorded.has(one));
  const pausedIds: string[] = [];
  const outlived = new Set<Verdict>();
  for (const before of circuits) {
    const ofIt = fresh.filter(({ delivery }) => delivery.endpointId === before.id);
    // mutant: old-url-speaks-for-the-new
    const own = ofIt.filter((one) => one.endpointUpdatedAt.getTime() === before.updatedAt.getTime());
    for (const one of ofIt) if (one.state === 'held' && !own.includes(one)) outlived.add(one);
    let after = before;
    let reason: DisabledReason | undefined;
    for (const verdict of own) {
      const { delivery, endedAtMs, attempt } = verdict;
      const { status, errorCode } = attempt;
      const how = { isSuccess: isSuccess(verdict), status, errorCode };
      const ended = { ...how, isProbe: delivery.isProbe, endedAtMs };
      after = { ...after, ...afterAttempt(after, ended, random) };
      if (!ended.isSuccess && isGivenUp(after, endedAtMs)) reason ??= 'failing';
      if (verdict.attempt.outcome === 'gone') reason = 'gone';
    }
    await writeCircuit(db, after);
    if (reason !== undefined) {
      await disable(db, after, { reason, now: new Date(own.at(-1)?.endedAtMs ?? 0) });
      log.warn({ endpoint: after.id, reason }, 'a webhook endpoint was disabled');
    }
    if (reason !== undefined || after.untilMs !== undefined) pausedIds.push(after.id);
  }
  const again = (one: Verdict): Verdict => ({ ...one, state: 'pending', dueAtMs: one.endedAtMs });
  return { pausedIds, verdicts: verdicts.map((one) => (outlived.has(one) ? again(one) : one)) };
}

function endpointsOf(verdicts: readonly Verdict[]): string[] {
  return [...new Set(verdicts.map(({ delivery }) => delivery.endpointId))];
}

/** The actor in the audit log. */
const ACTOR = 'delivery';
const ACTION = 'webhookEndpoints.disable';

async function disable(
  db: PoolClient,
  endpoint: CircuitRow,
  { reason, now }: { reason: DisabledReason; now: Date },
): Promise<void> {
  const { environment, id: objectId, url, events } = endpoint;
  await disableEndpoint(db, endpoint, { reason, now });
  const shown = { id: objectId, url, events };
  await insertAuditEntry(db, {
    environment,
    actor: ACTOR,
    action: ACTION,
    objectId,
    before: JSON.stringify({ ...shown, status: 'enabled' }),
    after: JSON.stringify({ ...shown, status: 'disabled', disabledReason: reason }),
    requestId: null,
    createdAt: now,
  });
}
