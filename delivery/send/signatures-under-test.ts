import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { afterAll, expect } from 'vitest';
import { newId } from '../../schemas/primitives/ids.ts';
import { CODE_POINT } from '../../tests/support/code-point.ts';
import { severalAtOnce } from '../../tests/support/several-at-once.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { type Received, receiverOfThisFile, requestTo, startReading } from '../receiver-under-test.ts';
import { createSend } from './send.ts';

const SEED = 20261121;
const AT_ONCE = 20;
export const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
export const OLD_SECRET = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;

const received = new Map<string, Received>();
const receiver = await receiverOfThisFile(
  startReading((one) => received.set(String(one.headers['webhook-id']), one)),
);
const sender = createSend({ log: SILENT });
afterAll(() => sender.close());

/** Text of any character, and numbers that a double would round: as no JSON printer would write it again. */
const text = fc.string({ unit: CODE_POINT, maxLength: 40 });
const body = fc
  .tuple(text, text, fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.constantFrom('', ' ', '\n\t'))
  .map(([name, value, number, space]) => {
    const wellFormed = JSON.stringify(name.toWellFormed());
    return `{${wellFormed}:${space}"${escaped(value.toWellFormed())}","n":${number}.000000000010}`;
  });

/** By code for every other character. */
function escaped(value: string): string {
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

export async function sendAndRead(one: string, secrets = [SECRET]): Promise<Received> {
  const requested = requestTo(receiver.url, { eventId: newId('evt'), body: one, secrets });
  const { outcome } = await sender.send(requested);
  const read = received.get(requested.eventId);
  received.delete(requested.eventId);
  if (outcome !== 'succeeded' || !read) throw new Error(`${requested.eventId} did not arrive: ${outcome}`);
  return read;
}

export function stripeTakes({ headers, body: raw }: Received, secret = SECRET): boolean {
  return holds(() => Stripe.webhooks.constructEvent(raw, String(headers['x-service-signature']), secret));
}

export function standardTakes({ headers, body: raw }: Received, secret = SECRET): boolean {
  return holds(() => new Webhook(secret).verify(raw, headers as Record<string, string>));
}

function holds(verify: () => unknown): boolean {
  try {
    verify();
    return true;
  } catch {
    return false;
  }
}

/** Sends so many bodies, the same in every run: each verifies as it came, and not with a bit flipped. */
export async function verifyBodies(count: number): Promise<void> {
  const bodies = fc.sample(body, { numRuns: count, seed: SEED });
  // A few first: what is wrong with all of them shows at once.
  for (const part of [bodies.slice(0, 100), bodies.slice(100)]) {
    const counts = { stripe: 0, standard: 0, flipped: 0, other: 0 };
    await severalAtOnce(part.entries(), AT_ONCE, async ([at, one]) => {
      const read = await sendAndRead(one);
      if (read.body.toString() !== one) counts.other += 1;
      if (stripeTakes(read)) counts.stripe += 1;
      if (standardTakes(read)) counts.standard += 1;
      if (SCHEMES.some(({ takes, signed }) => takes(flipped(read, signed[at % 4], at)))) counts.flipped += 1;
    });
    expect(counts).toEqual({ stripe: part.length, standard: part.length, flipped: 0, other: 0 });
  }
}

/** By turns, a bit of what each scheme looks at: of the body, or of a header. */
const SCHEMES = [
  { takes: stripeTakes, signed: ['body', 'x-service-signature', 'body', 'x-service-signature'] },
  { takes: standardTakes, signed: ['body', 'webhook-signature', 'webhook-id', 'webhook-timestamp'] },
] as const;

function flipped({ headers, body: raw }: Received, place = 'body', at = 0): Received {
  if (place === 'body') return { headers, body: flipBit(raw, at * 7_919) };
  const spoilt = flipBit(Buffer.from(String(headers[place])), at * 7_919);
  return { headers: { ...headers, [place]: spoilt.toString('latin1') }, body: raw };
}

function flipBit(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = Math.floor(bit / 8) % copy.length;
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit % 8));
  return copy;
}
