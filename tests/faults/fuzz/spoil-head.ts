import { gzipSync } from 'node:zlib';
import type { Random } from '../../support/random.ts';
import { type FuzzRequest, isUsage } from './fuzz-request.ts';
import { spoilBytes } from './spoil-bytes.ts';

/** A sound body under a head that says something else of it, or packed in a way that is broken. */
export function spoilHead(request: FuzzRequest, random: Random): FuzzRequest {
  const kind = random.below(4);
  if (kind === 0) return { ...request, what: 'sent in chunks', chunked: true };
  if (kind === 1) return withHeader(request, 'content-type', random.pick(MEDIA_TYPES));
  if (kind === 2) return withHeader(request, 'idempotency-key', random.pick(KEYS));
  return packed(request, random);
}

function withHeader(request: FuzzRequest, name: string, value: string | undefined): FuzzRequest {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([other]) => other !== name));
  const spoiled = { ...request, what: `${name} is ${value}`, headers };
  if (value !== undefined) spoiled.headers[name] = value;
  // Another header, another key: the one it was made with is not sent.
  if (name === 'idempotency-key' && request.target === 'single') spoiled.keys = [];
  return spoiled;
}

const MEDIA_TYPES = [
  ...['application/json', 'APPLICATION/JSON ; charset=utf-16', 'application/x-ndjson', 'text/plain', '*/*'],
  ...['application/json, text/plain', 'application/jsonp', 'multipart/form-data; boundary=x', ';', undefined],
];

const KEYS = [
  ...['', ' ', 'k'.repeat(255), 'k'.repeat(256), 'k'.repeat(8_000), 'a, b', 'a\u00e9b', 'a\tb', 'a\u00ffb'],
  ...['a\u00e9', '\u00e9a', '\u00e9', 'a\u00a0'],
  ...['"', "'; DROP TABLE keys; --", '__proto__', '%00', '\\u0000', '{"a":1}', undefined],
];

/** gzip that is cut off, spoiled, of nothing, twice, in two pieces, followed by garbage, or a bomb. */
function packed(request: FuzzRequest, random: Random): FuzzRequest {
  const whole = gzipSync(request.body, { level: 1 });
  const encoding = random.pick([
    'gzip',
    'gzip',
    'gzip',
    'GZIP',
    'identity',
    'deflate',
    'br',
    'gzip, gzip',
    'x',
  ]);
  const body = random.pick([
    () => whole,
    () => whole.subarray(0, random.below(whole.length)),
    () => spoilBytes(whole, random),
    () => gzipSync(spoilBytes(request.body, random)),
    () => gzipSync(whole),
    () => gzipSync(''),
    () => Buffer.concat([whole, gzipSync(' ')]),
    () => Buffer.concat([whole, Buffer.from('garbage')]),
    () => (random.chance(0.1) ? BOMB() : whole),
    () => request.body,
  ])();
  const headers = { ...request.headers, 'content-encoding': encoding };
  const what = `${encoding} over a body of the ${isUsage(request.target) ? 'data' : 'control'} plane`;
  return { ...request, what, headers, body };
}

const BOMB_BYTES = 256 * 1024 * 1024;
let bomb: Buffer | undefined;

/** A quarter of a gigabyte in a quarter of a megabyte. */
function BOMB(): Buffer {
  bomb ??= gzipSync(Buffer.alloc(BOMB_BYTES), { level: 9 });
  return bomb;
}
