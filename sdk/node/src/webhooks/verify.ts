import type { WebhookEvent } from '../generated/schemas.ts';

export interface Delivery {
  /** As received, before any JSON parser. */
  body: string | Uint8Array;
  /** Of the request: `webhook-id`, `webhook-timestamp` and `webhook-signature` are read. */
  headers: HeadersOf;
  /** `whsec_…`; several while a secret is being replaced. */
  secret: string | readonly string[];
  /** How far the sender's clock may differ from yours. Default 300. */
  toleranceSeconds?: number;
  nowMs?: number;
}

/** Those of fetch, of node:http, or of a framework. */
export type HeadersOf =
  | { get(name: string): string | null }
  | Record<string, string | readonly string[] | undefined>;

/** A delivery that is not to be trusted: respond with 400. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code:
    | 'header_missing'
    | 'timestamp_invalid'
    | 'signature_invalid'
    | 'secret_invalid'
    | 'tolerance_invalid'
    | 'body_invalid';

  constructor(code: WebhookError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const SECRET_PREFIX = 'whsec_';
const TOLERANCE_SECONDS = 300;

/**
 * Returns the event of a delivery that was signed with the secret within the tolerance, as Standard Webhooks
 * describes it. Rejects with a `WebhookError` otherwise. The same event may come again: act once for an `id`.
 */
export async function verifyWebhook(delivery: Delivery): Promise<WebhookEvent> {
  const { body, headers, secret, toleranceSeconds = TOLERANCE_SECONDS, nowMs = Date.now() } = delivery;
  if (!(toleranceSeconds >= 0)) throw new WebhookError('tolerance_invalid', 'A tolerance is 0 s or more.');
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new WebhookError('body_invalid', 'The body must be as it was received, before any JSON parser.');
  }
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  const distance = Math.abs(nowMs / 1_000 - Number(timestamp));
  // In both directions: a signature from the future would be good for too long.
  if (!/^\d{1,12}$/.test(timestamp) || distance > toleranceSeconds) {
    throw new WebhookError('timestamp_invalid', 'The timestamp is too far from now.');
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const secrets = Array.isArray(secret) ? secret : [secret];
  const verified = await Promise.all(secrets.map((one) => isSigned(signed, signatures, one)));
  if (!verified.includes(true)) {
    throw new WebhookError('signature_invalid', 'No signature matches this secret and body.');
  }
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent;
  } catch {
    throw new WebhookError('body_invalid', 'The body is not JSON.');
  }
}

/** crypto.subtle compares in constant time. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  secret: unknown,
): Promise<boolean> {
  const isOne = typeof secret === 'string' && secret.startsWith(SECRET_PREFIX);
  const keyBytes = isOne ? fromBase64(secret.slice(SECRET_PREFIX.length)) : undefined;
  if (!keyBytes || keyBytes.length === 0) {
    throw new WebhookError(
      'secret_invalid',
      'A secret is `whsec_` and base64, as the endpoint was created with.',
    );
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', keyBytes, algorithm, false, ['verify']);
  for (const one of signatures.filter((signature) => signature.startsWith('v1,'))) {
    const signature = fromBase64(one.slice('v1,'.length));
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed))) return true;
  }
  return false;
}

function headerOf(headers: HeadersOf, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : namedIn(headers, name);
  const [first] = Array.isArray(value) ? value : [value];
  if (typeof first === 'string' && first !== '') return first;
  throw new WebhookError('header_missing', `The header ${name} is missing.`);
}

/** Their names are of any case. */
function namedIn(headers: object, name: string): unknown {
  return Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
}

/** Undefined for what is none. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
