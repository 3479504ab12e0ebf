import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { CreditGrant } from '../../schemas/resources/credits.ts';
import { creditText, creditUnits } from '../rules/credit-units.ts';
import type { GrantRow, RecurringPlace } from '../store/credit-grants.ts';

/** As responses and the audit log show it. */
export function shownGrant(row: GrantRow): CreditGrant {
  const { id, customerId, reason, priority, expiresAt, createdAt, recurring } = row;
  return {
    id,
    customerId,
    amount: shownCredits(row.amount),
    remaining: shownCredits(row.remaining),
    reason,
    priority,
    ...(expiresAt === null ? {} : { expiresAt: timestampText(expiresAt.getTime()) }),
    ...(recurring ? { recurring: shownPlace(recurring) } : {}),
    createdAt: timestampText(createdAt.getTime()),
  };
}

function shownPlace({ subscriptionId, key, periodStartMs }: RecurringPlace) {
  return { subscriptionId, key, periodStart: timestampText(periodStartMs) };
}

/** Of a column: Postgres keeps zeros behind the point. */
export function shownCredits(text: string) {
  return exactNumber(creditText(creditUnits(text)));
}
