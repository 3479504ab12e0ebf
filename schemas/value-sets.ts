/** The closed sets of values of the API. The transitions between them are in domain/rules/. */

/** Of a plan. */
export const PLAN_STATUSES = ['draft', 'published', 'archived'] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];

/** The life of a subscription. */
export const SUBSCRIPTION_STATUSES = [
  'incomplete',
  'incomplete_expired',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** The statuses that a subscription can be created with. */
export const FIRST_STATUSES = [
  'incomplete',
  'trialing',
  'active',
  'past_due',
  'paused',
] as const satisfies SubscriptionStatus[];

/** The length of a billing period is a whole number of these. */
export const INTERVALS = ['day', 'week', 'month', 'year'] as const;
export type Interval = (typeof INTERVALS)[number];

/** How long the limit of a metered feature lasts before usage begins at 0 again, ascending. */
export const RESETS = ['day', 'week', 'month', 'billing_period', 'never'] as const;
export type Resets = (typeof RESETS)[number];

/** Kinds of usage thresholds. A soft threshold warns; at a hard one the grant is used up. */
export const THRESHOLD_KINDS = ['soft', 'hard'] as const;
export type ThresholdKind = (typeof THRESHOLD_KINDS)[number];

/** How often a plan grants credits: once in each billing period, or in each month from the billing anchor. */
export const GRANT_RHYTHMS = ['period', 'month'] as const;
export type GrantRhythm = (typeof GRANT_RHYTHMS)[number];

/** When what is left of such a grant expires. */
export const GRANT_EXPIRIES = ['period_end', 'never'] as const;
export type GrantExpiry = (typeof GRANT_EXPIRIES)[number];

/** Of corrections of usage. */
export const CORRECTION_KINDS = ['void', 'amendment', 'selection'] as const;
