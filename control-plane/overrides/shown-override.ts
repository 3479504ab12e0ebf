import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Override } from '../../schemas/resources/overrides.ts';
import type { OverrideRow } from '../store/overrides.ts';

/** As responses and the audit log show it. */
export function shownOverride({ enabled, amount, resets, expiresAt, reason, ...row }: OverrideRow): Override {
  const { id, customerId, featureKey, type, createdAt, updatedAt } = row;
  return {
    id,
    customerId,
    featureKey,
    type,
    value: type === 'boolean' ? enabled : amount === null ? null : exactNumber(amount),
    ...(resets === null ? {} : { resets }),
    ...(expiresAt === null ? {} : { expiresAt: timestampText(expiresAt.getTime()) }),
    ...(reason === null ? {} : { reason }),
    createdAt: timestampText(createdAt.getTime()),
    updatedAt: timestampText(updatedAt.getTime()),
  };
}
