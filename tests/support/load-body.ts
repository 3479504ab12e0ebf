import { gzipSync } from 'node:zlib';
import { createRandom, type Random } from './random.ts';

export interface LoadBodyOptions {
  host: string;
  key: string;
  customers: readonly string[];
  meterKeys: readonly string[];
  /** Events; 1 goes to the single endpoint. */
  batch: number;
  /** Share of the events; none when left out. */
  replays?: number;
  /** Names of each event's properties: in turns words, numbers and truths. */
  properties: readonly string[];
  gzip?: boolean;
  nowMs: number;
  /** What its events' occurredAt is spread over, up to now: a minute when left out. */
  spreadMs?: number;
  seed: number;
  /** Begins each idempotency key; no other body and no other run has the same. */
  keyPrefix: string;
}

/** A whole HTTP request, ready to be written, and what has to become of each of its events. */
export interface PlannedSend {
  request: Buffer;
  kind: 'batch' | 'single';
  /** By position: 1 for an event that was acknowledged before. */
  replayed: Uint8Array;
  /** By position: which of the run's customers. */
  customers: Uint16Array;
  /** By position. */
  thousandths: Uint32Array;
}

/**
 * Takes turns with new keys: what an event says at a position never changes, so that an earlier key at the
 * same position is a replay, byte for byte.
 */
export interface LoadBody {
  /** What it gives is overwritten by the next call. */
  next(): PlannedSend;
  /** All of the last send was acknowledged: from now on its keys may be replayed. */
  acknowledged(): void;
}

const KEY_DIGITS = 12;
const NO_DIGITS = '0'.repeat(KEY_DIGITS);
/** Of a position's new keys, those that take the place of the one that is replayed there. */
const RENEWED_SHARE = 0.25;
const SPREAD_MS = 60_000;
const ZERO = 48;

/** Building costs microseconds per event, once; new keys cost nanoseconds: the load is not the limit. */
export function createLoadBody(options: LoadBodyOptions): LoadBody {
  const { batch, replays = 0, gzip = false, keyPrefix } = options;
  const random = createRandom(options.seed);
  const send = emptySend(batch);
  const body = Buffer.from(bodyText(options, random, send));
  const plain = Buffer.concat([headOf(options, body.length), body]);
  const places = placesOf(plain, keyPrefix);
  const bodyAt = plain.length - body.length;
  /** Key numbers by position: sent now, and acknowledged before (-1: none yet). */
  const current = new Float64Array(batch);
  const known = new Float64Array(batch).fill(-1);
  let nextKey = 0;

  function next(): PlannedSend {
    for (let at = 0; at < batch; at++) {
      const isReplay = (known[at] ?? -1) >= 0 && random.chance(replays);
      send.replayed[at] = isReplay ? 1 : 0;
      current[at] = isReplay ? (known[at] ?? 0) : nextKey++;
      writeDigits(plain, places[at] ?? 0, current[at] ?? 0);
    }
    send.request = gzip ? zipped(plain, bodyAt) : plain;
    return send;
  }

  function acknowledged(): void {
    for (let at = 0; at < batch; at++) {
      if ((known[at] ?? -1) < 0 || random.chance(RENEWED_SHARE)) known[at] = current[at] ?? 0;
    }
  }

  return { next, acknowledged };
}

function emptySend(batch: number): PlannedSend {
  return {
    request: Buffer.alloc(0),
    kind: batch === 1 ? 'single' : 'batch',
    replayed: new Uint8Array(batch),
    customers: new Uint16Array(batch),
    thousandths: new Uint32Array(batch),
  };
}

function bodyText(options: LoadBodyOptions, random: Random, send: PlannedSend): string {
  const { batch, customers, meterKeys, properties, nowMs, spreadMs = SPREAD_MS, keyPrefix } = options;
  const items = Array.from({ length: batch }, (_, at) => {
    const customer = random.below(customers.length);
    const thousandths = random.below(1_000_000);
    send.customers[at] = customer;
    send.thousandths[at] = thousandths;
    const key = `"idempotencyKey":"${keyPrefix}${NO_DIGITS}"`;
    const members = [
      `"customerId":"${customers[customer]}"`,
      `"meterId":"${random.pick(meterKeys)}"`,
      `"value":${Math.floor(thousandths / 1_000)}.${String(thousandths % 1_000).padStart(3, '0')}`,
      ...(batch === 1 ? [] : [key]),
      `"occurredAt":"${new Date(nowMs - random.below(spreadMs)).toISOString()}"`,
      `"properties":{${properties.map((name, at) => `"${name}":${propertyValue(at, random)}`).join(',')}}`,
    ];
    return `{${members.join(',')}}`;
  });
  return batch === 1 ? (items[0] ?? '') : `{"events":[${items.join(',')}]}`;
}

function propertyValue(at: number, random: Random): string {
  if (at % 3 === 1) return String(random.below(64));
  return at % 3 === 2 ? String(random.chance(0.5)) : `"value-${random.below(1_000)}"`;
}

function headOf({ host, key, batch, gzip, keyPrefix }: LoadBodyOptions, length: number): Buffer {
  const lines = [
    `POST /api/v1/usage/events${batch === 1 ? '' : '/batch'} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    ...(batch === 1 ? [`Idempotency-Key: ${keyPrefix}${NO_DIGITS}`] : []),
    ...(gzip ? ['Content-Encoding: gzip'] : []),
    `Content-Length: ${length}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

/** The same with its body packed, and with that length in its head. */
function zipped(plain: Buffer, bodyAt: number): Buffer {
  const body = gzipSync(plain.subarray(bodyAt), { level: 1 });
  const head = plain.toString('latin1', 0, bodyAt).replace(/(Content-Length: )\d+/, `$1${body.length}`);
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** Where the digits of each key begin. */
function placesOf(request: Buffer, keyPrefix: string): number[] {
  const key = keyPrefix + NO_DIGITS;
  const places: number[] = [];
  for (let at = request.indexOf(key); at >= 0; at = request.indexOf(key, at + 1)) {
    places.push(at + keyPrefix.length);
  }
  return places;
}

function writeDigits(buffer: Buffer, place: number, number: number): void {
  let left = number;
  for (let at = place + KEY_DIGITS - 1; at >= place; at--) {
    buffer[at] = ZERO + (left % 10);
    left = Math.floor(left / 10);
  }
}
