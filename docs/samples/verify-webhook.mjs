import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the sender's clock may be from yours, and for how long a delivery that was overheard is good. */
const TOLERANCE_SECONDS = 300;

/**
 * The event of a delivery that was signed with this secret, just now. `body` is what came, byte for byte (a
 * Buffer, before any JSON parser), and `header` is X-Service-Signature. Throws for everything else: answer
 * 400.
 */
export function verifyWebhook({ body, header, secret, nowSeconds = Date.now() / 1000 }) {
  const items = String(header).split(',');
  const times = items.filter((item) => item.startsWith('t=')).map((item) => item.slice(2));
  const signatures = items.filter((item) => item.startsWith('v1=')).map((item) => item.slice(3));
  const [time] = times;
  if (times.length !== 1 || !/^\d{1,12}$/.test(time)) throw new Error('the header has no timestamp');
  // In both directions: a signature from the future would never grow stale.
  if (Math.abs(nowSeconds - Number(time)) > TOLERANCE_SECONDS) throw new Error('the timestamp is not of now');
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const isSigned = signatures.some((hex) => isSame(Buffer.from(hex, 'hex'), expected));
  if (!isSigned) throw new Error('no signature is of this secret and body');
  return JSON.parse(body);
}

/** In the same time wherever they differ. */
function isSame(signature, expected) {
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}
