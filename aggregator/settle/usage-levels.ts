import type { PoolClient } from 'pg';
import { type LevelTerms, shareUsed } from '../../domain/rules/usage-level.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import type { Queryable } from '../store/queryable.ts';
import {
  type LevelRow,
  readDueLevels,
  removeEndedLevels,
  removeLevels,
  writeLevels,
} from '../store/usage-levels.ts';
import type { CustomerMeterUsage } from './customer-meter-usage.ts';
import { nameOf } from './touched-customer-meters.ts';

/** Rows removed at once, and customer meters settled again at once: a month ends for all of them together. */
const ENDED_MAX = 5_000;
const DUE_MAX = 200;

/** The levels of settled customer meters, as their usage and terms are now. */
export async function keepLevels(
  db: PoolClient,
  { usage, nowMs }: { usage: CustomerMeterUsage; nowMs: number },
): Promise<void> {
  const rows = usage.facts.flatMap((facts): LevelRow[] => {
    const levels = facts.levels.map((level) =>
      levelOf(facts.customerMeter, level, usage.total(facts, level)),
    );
    return fullestOf(levels);
  });
  const kept = new Set(rows.map(nameOf));
  const gone = usage.facts.map(({ customerMeter }) => customerMeter).filter((one) => !kept.has(nameOf(one)));
  if (gone.length > 0) await removeLevels(db, gone);
  if (rows.length > 0) await writeLevels(db, rows, new Date(nowMs));
}

/**
 * A limit may have another window than the budget: the fuller one, which is settled again at its end where
 * something was used of the other one, too.
 */
function fullestOf(levels: readonly LevelRow[]): LevelRow[] {
  const used = levels.filter(({ current }) => decimalUnits(current) > 0n);
  const isAhead = levels.some(({ usedAhead }) => usedAhead);
  const [fullest = isAhead ? levels[0] : undefined] = used.sort((a, b) => Number(b.share) - Number(a.share));
  return fullest ? [{ ...fullest, usedAhead: isAhead || used.length > 1 }] : [];
}

function levelOf(
  { environment, customerId, meterKey, occurredToMs }: TouchedCustomerMeter,
  level: LevelTerms,
  current: bigint,
): LevelRow {
  return {
    ...{ environment, customerId, meterKey, current: unitsText(current) },
    usedAhead: occurredToMs >= level.toMs || (level.isLasting && current > 0n),
    share: shareUsed(current, level),
    limit: level.limit ?? null,
    budget: level.budget ?? null,
    periodStart: new Date(level.fromMs),
    periodEnd: new Date(level.toMs),
    changesAt: new Date(level.changesMs),
  };
}

/** Of customer meters that nothing is settled of: they have no limit, budget or rate. */
export async function endLevels(db: PoolClient, ended: readonly TouchedCustomerMeter[]): Promise<void> {
  if (ended.length > 0) await removeLevels(db, ended);
}

/** The customer meters whose level time alone has changed. Removes those of periods that are over. */
export async function dueLevels(db: Queryable, nowMs: number): Promise<TouchedCustomerMeter[]> {
  const now = new Date(nowMs);
  await removeEndedLevels(db, now, ENDED_MAX);
  const due = await readDueLevels(db, now, DUE_MAX);
  return due.map((place) => ({ ...place, occurredFromMs: nowMs, occurredToMs: nowMs }));
}
