/** What an API key can be allowed to do. */
export const SCOPES = [
  'plans:read',
  'plans:write',
  'customers:view',
  'customers:create',
  'subscriptions:write',
  'entitlements:read',
  'usage:write',
  'usage:read',
  'usage:correct',
  'webhooks:read',
  'webhooks:write',
  'integrations:manage',
  'keys:manage',
] as const;

export type Scope = (typeof SCOPES)[number];

/** A key with this scope has every scope. */
export const EVERY_SCOPE = '*';
