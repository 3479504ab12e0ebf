import { gzipSync } from 'node:zlib';
import { placesOf, writeDigits } from '../../tests/support/load-bodies.ts';
import { createRandom, type Random } from '../../tests/support/random.ts';

export interface TesterBodyOptions {
  host: string;
  key: string;
  customers: readonly string[];
  meterKey: string;
  batch: number;
  replays: number;
  properties: number;
  gzip: boolean;
  nowMs: number;
  /** What its events' occurredAt is spread over, up to now: a minute when left out. */
  spreadMs?: number;
  seed: number;
  /** Begins each idempotency key; no other body and no other run has the same. */
  keyPrefix: string;
}

/** A request ready to be written, and what has to become of each of its events. */
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
export interface TesterBody {
  /** What it gives is overwritten by the next call. */
  next(): PlannedSend;
  /** All of the last send was acknowledged: from now on its keys may be replayed. */
  acknowledged(): void;
}

const KEY_DIGITS = 12;
/** Of a position's new keys, those that take the place of the one that is replayed there. */
const RENEWED_SHARE = 0.25;
const SPREAD_MS = 60_000;

export function createTesterBody(options: TesterBodyOptions): TesterBody {
  const { batch, replays, gzip, keyPrefix } = options;
  const random = createRandom(options.seed);
  const send = emptySend(batch);
  const body = Buffer.from(bodyText(options, random, send));
  const plain = Buffer.concat([headOf(options, body.length), body]);
  const places = placesOf(plain, `${keyPrefix}${'0'.repeat(KEY_DIGITS)}`, keyPrefix.length);
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
      writeDigits(plain, { place: places[at] ?? 0, digits: KEY_DIGITS }, current[at] ?? 0);
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

function bodyText(options: TesterBodyOptions, random: Random, send: PlannedSend): string {
  const { batch, customers, meterKey, nowMs, spreadMs = SPREAD_MS, keyPrefix } = options;
  const items = Array.from({ length: batch }, (_, at) => {
    const customer = random.below(customers.length);
    const thousandths = random.below(1_000_000);
    send.customers[at] = customer;
    send.thousandths[at] = thousandths;
    const key = `"idempotencyKey":"${keyPrefix}${'0'.repeat(KEY_DIGITS)}"`;
    const members = [
      `"customerId":"${customers[customer]}"`,
      `"meterId":"${meterKey}"`,
      `"value":${Math.floor(thousandths / 1_000)}.${String(thousandths % 1_000).padStart(3, '0')}`,
      ...(batch === 1 ? [] : [key]),
      `"occurredAt":"${new Date(nowMs - random.below(spreadMs)).toISOString()}"`,
      `"properties":{${propertiesText(options.properties, random)}}`,
    ];
    return `{${members.join(',')}}`;
  });
  return batch === 1 ? (items[0] ?? '') : `{"events":[${items.join(',')}]}`;
}

/** In turns words, numbers and truths. */
function propertiesText(count: number, random: Random): string {
  const value = (at: number) => {
    if (at % 3 === 1) return random.below(64);
    return at % 3 === 2 ? random.chance(0.5) : `"value-${random.below(1_000)}"`;
  };
  return Array.from({ length: count }, (_, at) => `"p${at}":${value(at)}`).join(',');
}

function headOf({ host, key, batch, gzip, keyPrefix }: TesterBodyOptions, length: number): Buffer {
  const lines = [
    `POST /api/v1/usage/events${batch === 1 ? '' : '/batch'} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    ...(batch === 1 ? [`Idempotency-Key: ${keyPrefix}${'0'.repeat(KEY_DIGITS)}`] : []),
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
