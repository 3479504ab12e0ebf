import { createHmac, timingSafeEqual } from 'node:crypto';
import { splitEnvironment } from '../../schemas/primitives/environment.ts';

/** What a customer token states. It is signed, not secret: no page learns more from it than its own ids. */
export interface CustomerTokenClaims {
  environment: string;
  customerId: string;
  /** Of the API key that created it. The token ends with that key and has at most its scopes. */
  keyId: string;
  expiresAtMs: number;
}

/** `ct_live_` or `ct_test_`, the claims as JSON in base64url, a dot, HMAC-SHA-256 of all before the dot. */
const SHAPE = /^(ct_(?:live|test)_[\w-]{1,1024})\.([\w-]{43})$/;
const PREFIX = 'ct_';

/** Whether a credential is meant to be a customer token, signed or not. */
export function looksLikeCustomerToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

export function signCustomerToken(claims: CustomerTokenClaims, signingKey: Buffer): string {
  const { environment, customerId, keyId, expiresAtMs } = claims;
  const json = JSON.stringify([environment, customerId, keyId, expiresAtMs]);
  const { mode } = splitEnvironment(environment);
  const signed = `${PREFIX}${mode}_${Buffer.from(json).toString('base64url')}`;
  return `${signed}.${signatureOf(signed, signingKey)}`;
}

/**
 * Undefined for every text but those that `signCustomerToken` returned under this key. Whether the token has
 * expired is not checked.
 */
export function readCustomerToken(text: string, signingKey: Buffer): CustomerTokenClaims | undefined {
  const [, signed = '', signature = ''] = SHAPE.exec(text) ?? [];
  // As text: several texts decode to the bytes of one signature.
  const given = Buffer.from(signature);
  const right = Buffer.from(signatureOf(signed, signingKey));
  // mutant: token-signature-unchecked
  if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
  const json = Buffer.from(signed.slice(`${PREFIX}live_`.length), 'base64url').toString();
  const [environment, customerId, keyId, expiresAtMs] = JSON.parse(json) as [string, string, string, number];
  return { environment, customerId, keyId, expiresAtMs };
}

function signatureOf(signed: string, signingKey: Buffer): string {
  return createHmac('sha256', signingKey).update(signed).digest('base64url');
}
