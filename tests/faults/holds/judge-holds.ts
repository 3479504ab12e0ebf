import { type Api, getPatiently } from '../../support/api.ts';
import { numberText } from '../../support/exact.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance } from '../../support/instance.ts';
import { postgresUrlOf, queryPostgres } from '../query-postgres.ts';

/** A reservation as its caller knows it. */
export interface Held {
  /** Of what was consumed, the id of its event. */
  id: string;
  amount: number;
  status: 'held' | 'released' | 'committed';
  /** What was committed. */
  value: number;
  /** It commits itself, and its caller does nothing. */
  expires?: boolean;
  isConsumed?: boolean;
}

/** What callers know of what they were granted, and used. */
export interface HoldLedger {
  granted: Held[];
  /** Usage that was recorded without a reservation. */
  plain: number;
  denied: number;
  repeated: number;
  problems: string[];
}

export interface Judged {
  instance: Instance;
  api: Api;
  customerId: string;
  limit: number;
}

interface Stored {
  id: string;
  amount: number;
  status: string;
  reserved: number;
  value: number | null;
  eventId: string | null;
  isConsumed: boolean;
}

const PATIENCE = { timeoutMs: 60_000, everyMs: 100 };

/**
 * Every reservation is one that a caller knows, as it knows it; their sum is in the account and fits; and the
 * counter has what was committed, and the usage without reservations, once.
 */
export async function judgeHolds(judged: Judged, ledger: HoldLedger): Promise<string[]> {
  const stored = await seenInTime(() => readEnded(judged), PATIENCE, 'the end of all commits');
  const known = new Map(ledger.granted.map((one) => [one.id, one]));
  const problems = stored.flatMap((one) => {
    const name = one.isConsumed ? (one.eventId ?? '') : one.id;
    const granted = known.get(name);
    known.delete(name);
    return granted
      ? differences(one, granted)
      : [`${one.id} holds ${one.amount}, which no caller was granted`];
  });
  for (const id of known.keys()) problems.push(`${id} was granted and is gone`);
  return [...problems, ...(await judgeSums(judged, stored, ledger.plain))];
}

/** Undefined while an expiry or a commit is still to come. */
async function readEnded({ instance, customerId }: Judged): Promise<Stored[] | undefined> {
  const stored = await queryPostgres<Stored & { isUnderWay: boolean }>(
    postgresUrlOf(instance),
    `SELECT id, amount::float AS amount, status, reserved::float AS reserved, value::float AS value,
            event::json ->> 'id' AS "eventId", decision IS NOT NULL AS "isConsumed",
            status = 'committing' OR (status = 'held' AND on_expiry = 'commit') AS "isUnderWay"
       FROM reservations WHERE customer_id = $1`,
    [customerId],
  );
  return stored.some(({ isUnderWay }) => isUnderWay) ? undefined : stored;
}

function differences(stored: Stored, { status, amount, value, expires = false }: Held): string[] {
  const expected = expires ? { status: 'committed', value: amount } : { status, value };
  const isSame =
    stored.status === expected.status && stored.amount === amount && (stored.value ?? 0) === expected.value;
  if (isSame) return [];
  const is = `${stored.status} with ${stored.amount} and ${stored.value}`;
  return [`${stored.id} is ${is}, and not ${expected.status} with ${amount} and ${expected.value}`];
}

async function judgeSums(judged: Judged, stored: Stored[], plain: number): Promise<string[]> {
  const { instance, api, customerId, limit } = judged;
  const [account] = await queryPostgres<{ held: number }>(
    postgresUrlOf(instance),
    'SELECT held::float AS held FROM reserved_amounts WHERE customer_id = $1',
    [customerId],
  );
  const path = `/usage/${customerId}/calls?consistency=strong`;
  const { body } = await getPatiently(api, path, PATIENCE.timeoutMs);
  const current = Number(numberText((body as { current: unknown }).current));
  const takes = sumOf(stored.map(({ reserved }) => reserved));
  const used = sumOf(stored.map(({ value }) => value ?? 0));
  const open = sumOf(stored.map(({ status, amount }) => (status === 'held' ? amount : 0)));
  const problems: string[] = [];
  if (takes !== sumOf([account?.held ?? 0]))
    problems.push(`the account holds ${account?.held}, and its reservations take ${takes}`);
  if (open + used > limit) problems.push(`${open} are held and ${used} committed of a limit of ${limit}`);
  if (sumOf([current]) !== sumOf([used, plain]))
    problems.push(`the counter is ${current}, and ${used} were committed and ${plain} recorded`);
  return problems;
}

/** Of values with few digits. */
function sumOf(values: number[]): number {
  return values.reduce((sum, one) => sum + Math.round(one * 1_000), 0) / 1_000;
}
