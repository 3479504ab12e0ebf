import { createHmac } from 'node:crypto';

export interface Unsigned {
  eventId: string;
  /** Exactly the bytes that are sent. */
  body: Buffer;
  /** `whsec_` and base64, newest first: while a secret is being replaced both sign. */
  secrets: readonly string[];
  atMs: number;
}

/**
 * The headers by which a receiver knows that we sent this, just now, in two schemes from the same secrets:
 * `X-Service-Signature` as `Stripe.webhooks.constructEvent` reads it, and the three of Standard Webhooks.
 */
export function signatureHeaders({ eventId, body, secrets, atMs }: Unsigned): Record<string, string> {
  const seconds = String(Math.floor(atMs / 1_000));
  // mutant: old-secret-left-out
  const hexes = secrets.map((secret) => hmac(secret, `${seconds}.`, body).toString('hex'));
  const base64s = secrets.map((secret) =>
    hmac(keyOf(secret), `${eventId}.${seconds}.`, body).toString('base64'),
  );
  return {
    'X-Service-Signature': [`t=${seconds}`, ...hexes.map((hex) => `v1=${hex}`)].join(','),
    'X-Service-Timestamp': seconds,
    'webhook-id': eventId,
    'webhook-timestamp': seconds,
    'webhook-signature': base64s.map((base64) => `v1,${base64}`).join(' '),
  };
}

function hmac(key: string | Buffer, head: string, body: Buffer): Buffer {
  return createHmac('sha256', key).update(head).update(body).digest();
}

const SECRET_PREFIX = 'whsec_';

/** Standard Webhooks signs with the bytes that the secret encodes; the first scheme with its whole text. */
function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
}
