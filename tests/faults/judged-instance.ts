import { auditOf } from '../support/audit-of.ts';
import type { Judged } from '../support/compare.ts';
import { createLedger, type Ledger } from '../support/ledger.ts';
import { makeWorld } from '../support/make-world.ts';
import { type OpenedInstance, type OpenOptions, openPrepared } from '../support/open-instance.ts';
import { compareLog, compareRows } from '../support/stored-events.ts';
import type { FaultOptions, RoundReport } from './promise.ts';

/** A Metergate with a world of customers and meters, and the ledger of what it acknowledges. */
export interface JudgedInstance extends Pick<OpenedInstance, 'instance' | 'close'> {
  judged: Judged;
}

/** What was started is ended when it rejects, and else at the end of the run. */
export async function startJudged(
  environment: Record<string, string>,
  { onEnd, ...options }: OpenOptions & Partial<Pick<FaultOptions, 'onEnd'>>,
): Promise<JudgedInstance> {
  const opened = await openPrepared(environment, options, async ({ instance, api, close }) => {
    const world = await makeWorld(api);
    return { instance, judged: { api, world, ledger: createLedger(world) }, close };
  });
  onEnd?.(opened.close);
  return opened;
}

type Comparison = (judged: Judged) => Promise<string[]>;

/** What is wrong with the responses, and then what each comparison with the ledger finds. */
export async function problemsOf(judged: Judged, ...comparisons: Comparison[]): Promise<string[]> {
  const problems = judged.ledger.problems();
  for (const compare of comparisons) problems.push(...(await compare(judged)));
  return problems;
}

/** The same at the end of a run. */
export async function judgeAll(judged: Judged, ...comparisons: Comparison[]): Promise<RoundReport> {
  const problems = await problemsOf(judged, ...comparisons);
  return { counts: { eventsAcknowledged: judged.ledger.size() }, problems };
}

type StoredComparison = (dataDir: string, ledger: Ledger) => Promise<string[]>;

/** The same with the audit; then it is stopped in order, and what it has stored is compared as well. */
export async function judgeAndStop(
  { instance, judged }: Pick<JudgedInstance, 'instance' | 'judged'>,
  comparisons: Comparison[],
  storedComparisons: StoredComparison[] = [compareLog, compareRows],
): Promise<RoundReport> {
  const { dataDir } = instance;
  const { counts, problems } = await judgeAll(judged, ...comparisons, () => auditOf(dataDir));
  const exitCode = await instance.stop();
  if (exitCode !== 0) problems.push(`an ordinary stop ended with ${exitCode}`);
  for (const compare of storedComparisons) problems.push(...(await compare(dataDir, judged.ledger)));
  return { counts, problems };
}
