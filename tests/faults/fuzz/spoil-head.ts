import { gzipSync } from 'node:zlib';
import type { Random } from '../../support/random.ts';
import { type FuzzRequest, isUsage } from './fuzz-request.ts';
import { spoilBytes } from './spoil-bytes.ts';
import { fuzzTexts } from './text-table.ts';

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

/** Undefined: the header is left out. */
const MEDIA_TYPES = [...fuzzTexts('media types'), undefined];
const KEYS = [...fuzzTexts('idempotency keys'), undefined];

/** gzip that is cut off, spoiled, of nothing, twice, in two pieces, followed by garbage, or a bomb. */
function packed(request: FuzzRequest, random: Random): FuzzRequest {
  const whole = gzipSync(request.body, { level: 1 });
  const encodings = ['gzip', 'gzip', 'gzip', 'GZIP', 'identity', 'deflate', 'br', 'gzip, gzip', 'x'];
  const encoding = random.pick(encodings);
  const body = random.pick([
    () => whole,
    () => whole.subarray(0, random.below(whole.length)),
    () => spoilBytes(whole, random),
    () => gzipSync(spoilBytes(request.body, random)),
    () => gzipSync(whole),
    () => gzipSync(''),
    () => Buffer.concat([whole, gzipSync(' ')]),
    () => Buffer.concat([whole, Buffer.from('garbage')]),
    () => (random.chance(0.1) ? zipBomb() : whole),
    () => request.body,
  ])();
  const headers = { ...request.headers, 'content-encoding': encoding };
  const what = `${encoding} over a body of the ${isUsage(request.target) ? 'data' : 'control'} plane`;
  return { ...request, what, headers, body };
}

const BOMB_BYTES = 256 * 1024 * 1024;
let bomb: Buffer | undefined;

/** A quarter of a gigabyte in a quarter of a megabyte. */
function zipBomb(): Buffer {
  bomb ??= gzipSync(Buffer.alloc(BOMB_BYTES), { level: 9 });
  return bomb;
}
