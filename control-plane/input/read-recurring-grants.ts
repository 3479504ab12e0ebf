import type { RecurringGrant, Rollover } from '../../domain/rules/recurring-credits.ts';
import { Rejected } from '../../schemas/failures.ts';
import { exactNumber, numberText, parseExact } from '../../schemas/primitives/exact-json.ts';
import { PRIORITY_DEFAULT } from '../../schemas/resources/credits.ts';
import { GRANT_KEY_DEFAULT, type RecurringGrant as Shown } from '../../schemas/resources/recurring-grants.ts';
import type { GrantExpiry, GrantRhythm } from '../../schemas/value-sets.ts';
import { readDecimal } from './read-decimal.ts';

/** One entry of the checked body, with its numbers as marked text. */
interface Given {
  key?: string | null;
  amount: unknown;
  every: GrantRhythm;
  priority?: unknown;
  expires: GrantExpiry;
  rollover?: { percent: unknown; max?: unknown } | null;
}

/**
 * The `creditGrants` of a checked body, with numbers from the body's own text. Throws Rejected: a key twice,
 * a rollover of what never expires (400), too many digits (422).
 */
export function readRecurringGrants(bodyText: string): RecurringGrant[] {
  const { creditGrants } = parseExact(bodyText) as { creditGrants: Given[] };
  const seen = new Set<string>();
  return creditGrants.map((given, at) => {
    const place = `creditGrants.${at}`;
    const { amount, every, expires } = given;
    const key = given.key ?? GRANT_KEY_DEFAULT;
    const priority = Number(numberText(given.priority) ?? PRIORITY_DEFAULT);
    if (seen.has(key)) throw invalid(`${place}.key`, `repeats ${key}; each key can occur once`);
    seen.add(key);
    const read = readDecimal(amount, `${place}.amount`);
    const rollover = readRollover(given, `${place}.rollover`);
    return { key, amount: read, every, priority, expires, ...(rollover ? { rollover } : {}) };
  });
}

function readRollover({ rollover, expires }: Given, place: string): Rollover | undefined {
  if (!rollover) return undefined;
  if (expires === 'never') throw invalid(place, 'is only for what expires at the end of the period');
  const percent = readDecimal(rollover.percent, `${place}.percent`);
  const { max } = rollover;
  return { percent, ...(max == null ? {} : { max: readDecimal(max, `${place}.max`) }) };
}

/** In the order of their keys: one order for each set, so that two can be compared. */
export function shownRecurringGrants(grants: readonly RecurringGrant[]): Shown[] {
  const inOrder = grants.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return inOrder.map(({ key, amount, every, priority, expires, rollover }) => {
    const shown = { key, amount: exactNumber(amount), every, priority, expires };
    return rollover ? { ...shown, rollover: shownRollover(rollover) } : shown;
  });
}

function shownRollover({ percent, max }: Rollover) {
  return { percent: exactNumber(percent), ...(max === undefined ? {} : { max: exactNumber(max) }) };
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}
