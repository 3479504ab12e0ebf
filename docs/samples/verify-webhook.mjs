import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the sender's clock may differ from yours, and how long an intercepted delivery stays valid. */
const TOLERANCE_SECONDS = 300;

/**
 * Returns the event of a delivery that was signed with this secret within the tolerance. `body` is the body
 * as received (a Buffer, before any JSON parser), and `header` is X-Service-Signature. Throws otherwise:
 * respond with 400.
 */
export function verifyWebhook({ body, header, secret, nowSeconds = Date.now() / 1000 }) {
  const items = String(header).split(',');
  const times = items.filter((item) => item.startsWith('t=')).map((item) => item.slice(2));
  const signatures = items.filter((item) => item.startsWith('v1=')).map((item) => item.slice(3));
  const [time] = times;
  if (times.length !== 1 || !/^\d{1,12}$/.test(time)) throw new Error('the header has no timestamp');
  // In both directions: a signature from the future would stay valid for too long.
  const isNow = Math.abs(nowSeconds - Number(time)) <= TOLERANCE_SECONDS;
  if (!isNow) throw new Error('the timestamp is too far from now');
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const isSigned = signatures.some((hex) => isSame(Buffer.from(hex, 'hex'), expected));
  if (!isSigned) throw new Error('no signature matches this secret and body');
  return JSON.parse(body);
}

/** In constant time. */
function isSame(signature, expected) {
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}
