/** Why an entitlement is granted or denied. No decision has another one. */
const GRANTED_CODES = [
  'granted',
  'granted_unlimited',
  'granted_soft_limit_exceeded',
  'granted_by_override',
  'granted_by_credit',
  'granted_grace_period',
] as const;

const DENIED_CODES = [
  'limit_reached',
  'insufficient_credit',
  'feature_not_included',
  'no_active_subscription',
  'subscription_past_due',
  'subscription_paused',
  'override_denied',
  'feature_not_found',
  'customer_not_found',
  'customer_archived',
] as const;

export const REASON_CODES = [...GRANTED_CODES, ...DENIED_CODES] as const;

export type GrantedCode = (typeof GRANTED_CODES)[number];
export type DeniedCode = (typeof DENIED_CODES)[number];
