import type { Context } from 'koa';

/**
 * Lets pages of any origin read the response (the Fetch standard, CORS). The origin is named, since a beacon
 * is sent with credentials, for which `*` does not count; the server reads no credentials: only the key
 * identifies the caller.
 */
export function allowAnyOrigin(ctx: Context): void {
  const origin = ctx.get('origin');
  ctx.vary('Origin');
  ctx.set('Access-Control-Allow-Origin', VISIBLE.test(origin) ? origin : '*');
  ctx.set('Access-Control-Allow-Credentials', 'true');
  ctx.set('Access-Control-Expose-Headers', READABLE);
}

/** The preflight that a browser sends before a request that a form could not have sent. */
export function respondToPreflight(ctx: Context, methods: string[]): void {
  ctx.status = 204;
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  ctx.set('Access-Control-Allow-Headers', SENDABLE);
  ctx.set('Access-Control-Max-Age', '86400');
}

const VISIBLE = /^[\x21-\x7e]{1,256}$/;

const SENDABLE = 'Authorization, Content-Type, Idempotency-Key, Prefer, X-API-Key, X-Request-Id';
const READABLE =
  'Idempotent-Replayed, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-API-Version, ' +
  'X-Ignored-Fields, X-Item-Errors, X-Request-Id';
