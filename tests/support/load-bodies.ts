import { createRandom } from './random.ts';
import type { World } from './world.ts';

/** A whole HTTP request for a batch, ready to be written; only its idempotency keys change between sends. */
export interface LoadBody {
  request: Buffer;
  events: number;
  /** Gives every event a key that was never sent before. */
  renewKeys(): void;
}

export interface LoadBodyOptions {
  world: World;
  host: string;
  key: string;
  /** Distinguishes the keys of several runs and connections: 1–9 characters. */
  run: string;
  seed: number;
  nowMs: number;
  /** How far back occurredAt lies at most. */
  spreadMs: number;
}

const EVENTS = 500;
const KEY_DIGITS = 10;
const ZERO = 48;
const USERS = 1_000;

/** Building costs microseconds per event, once; renewing costs nanoseconds: the load is not the limit. */
export function createLoadBody(options: LoadBodyOptions, counter: { next: number }): LoadBody {
  const digits = '0'.repeat(KEY_DIGITS);
  const mark = `"${options.run}-`;
  const body = Buffer.from(`{"events":[${loadItems(options, `${mark}${digits}"`).join(',')}]}`);
  const request = Buffer.concat([Buffer.from(requestHead(options, body.length)), body]);
  const places = placesOf(request, mark + digits, mark.length);
  return {
    request,
    events: places.length,
    renewKeys() {
      for (const place of places) writeDigits(request, { place, digits: KEY_DIGITS }, counter.next++);
    },
  };
}

function loadItems({ world, seed, nowMs, spreadMs }: LoadBodyOptions, quotedKey: string): string[] {
  const random = createRandom(seed);
  const declared = world.meters.filter((meter) => meter.declared);
  return Array.from({ length: EVENTS }, () => {
    const customer = random.pick(world.customers);
    const occurredAt = new Date(nowMs - random.below(spreadMs)).toISOString();
    const user = `"user":"user-${random.below(USERS)}"`;
    const properties = `{${user},"size":${random.below(64)},"cached":${random.chance(0.5)}}`;
    return [
      `{"customerId":"${customer.id}","meterId":"${random.pick(declared).key}"`,
      `"value":${random.below(1000)}.${random.below(100)}1,"idempotencyKey":${quotedKey}`,
      `"occurredAt":"${occurredAt}","properties":${properties}}`,
    ].join(',');
  });
}

function requestHead({ host, key }: LoadBodyOptions, length: number): string {
  return [
    'POST /api/v1/usage/events/batch HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n');
}

/** Where the digits of each key begin, behind a prefix of this length. */
export function placesOf(request: Buffer, key: string, prefixLength: number): number[] {
  const places: number[] = [];
  for (let at = request.indexOf(key); at >= 0; at = request.indexOf(key, at + 1)) {
    places.push(at + prefixLength);
  }
  return places;
}

export function writeDigits(
  buffer: Buffer,
  { place, digits }: { place: number; digits: number },
  number: number,
): void {
  let left = number;
  for (let at = place + digits - 1; at >= place; at--) {
    buffer[at] = ZERO + (left % 10);
    left = Math.floor(left / 10);
  }
}
