import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { poll } from '../../infra/platform/poll.ts';
import { type AuditOutcome, findAuditRun, requestAuditRun, withdrawAuditRun } from '../store/audit-runs.ts';
import { isLogHeld } from '../store/log-trims.ts';

export interface AuditRequest {
  repair: boolean;
  /** An aggregator has to begin the audit within this time. */
  beginWithinMs: number;
  print: (line: string) => void;
}

export const AUDIT_EXIT = { same: 0, different: 1, impossible: 2 } as const;

const POLL_MS = 100;
/** One does one audit at a time, also those of its own after a damage: minutes for millions of events. */
const NOT_BEGUN =
  'No aggregator began the audit: start Metergate first, or wait for the audit that it is doing.';
/** An audit reads the whole log. An operator who does not want to wait stops the command. */
const DONE_WITHIN_MS = 24 * 3_600_000;

/** Has an audit done by the running aggregator, prints what differs and gives the exit code. */
export async function requestAudit(
  pool: Pool,
  { repair, beginWithinMs, print }: AuditRequest,
): Promise<number> {
  if (repair) {
    const before = await audit(pool, { repair: false, beginWithinMs, print });
    if (before === AUDIT_EXIT.impossible) return before;
    // A repair that finds nothing left to do releases what an earlier repair held back.
    if (before === AUDIT_EXIT.same && !(await isLogHeld(pool))) return before;
    print('Repairing.');
  }
  return audit(pool, { repair, beginWithinMs, print });
}

async function audit(pool: Pool, { repair, beginWithinMs, print }: AuditRequest): Promise<number> {
  const id = randomUUID();
  await requestAuditRun(pool, { id, repair });
  const begun = await runWhen(pool, id, ({ state }) => state !== 'asked', beginWithinMs);
  if (!begun && (await withdrawAuditRun(pool, id))) {
    print(NOT_BEGUN);
    return AUDIT_EXIT.impossible;
  }
  const ended = await runWhen(
    pool,
    id,
    ({ state }) => state === 'done' || state === 'failed',
    DONE_WITHIN_MS,
  );
  if (ended?.state !== 'done') {
    print('The audit could not be done; the log of the aggregator says why.');
    return AUDIT_EXIT.impossible;
  }
  return report(ended, print);
}

function runWhen(
  pool: Pool,
  id: string,
  holds: (run: AuditOutcome) => boolean,
  timeoutMs: number,
): Promise<AuditOutcome | undefined> {
  const readRun = async () => {
    const run = await findAuditRun(pool, id);
    return run && holds(run) ? run : undefined;
  };
  return poll(readRun, { timeoutMs, everyMs: POLL_MS });
}

function report({ hours, differences }: AuditOutcome, print: AuditRequest['print']): number {
  const found = differences ?? [];
  for (const difference of found) print(JSON.stringify(difference));
  print(`${hours ?? 0} hours compared, ${found.length} differences.`);
  return found.length === 0 ? AUDIT_EXIT.same : AUDIT_EXIT.different;
}
