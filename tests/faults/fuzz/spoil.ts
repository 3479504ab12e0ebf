import { gzipSync } from 'node:zlib';
import type { Random } from '../../support/random.ts';
import { type FuzzRequest, isUsage } from './fuzz-request.ts';
import { fuzzEntries, fuzzTexts } from './text-table.ts';

/** Texts in place of a JSON value: many are none, and most of the others are meant to do harm. */
function fuzzValue(random: Random): string {
  const kind = random.below(100);
  if (kind < 30) return random.pick(NUMBERS);
  if (kind < 55) return random.pick(TEXTS);
  if (kind < 70) return random.pick(SHAPES);
  if (kind < 80) return random.pick(TIMES);
  return kind < 98 ? random.pick(NOT_JSON) : nested(random, 1 + random.below(3_000));
}

/** So many arrays or objects inside each other, most of them closed again. */
export function nested(random: Random, depth: number): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"__proto__":', '}]'],
  ] as const);
  const inside = random.pick(['', 'null', '1e400', '"\\ud800"']);
  const core = open === '[' ? inside : inside || '0';
  return open.repeat(depth) + core + close.repeat(random.chance(0.9) ? depth : random.below(depth));
}

const NUMBERS = fuzzTexts('numbers');
const NOT_JSON = fuzzTexts('not JSON');
const TIMES = fuzzTexts('times').map((text) => JSON.stringify(text));
/** The second kind cannot be stored, or is spelled in another way. */
const TEXTS = [...fuzzTexts('texts').map((text) => JSON.stringify(text)), ...fuzzTexts('texts as JSON')];
const SHAPES = [
  ...fuzzTexts('shapes'),
  ...[32, 33].map((count) => `{${Array.from({ length: count }, (_, at) => `"p${at}":${at}`).join()}}`),
];

/** The bytes with one to four changes: cut out, doubled, put in, overwritten, or a bit turned. */
export function spoilBytes(bytes: Buffer, random: Random): Buffer {
  let spoiled = bytes;
  for (let changes = 1 + random.below(4); changes > 0; changes--) spoiled = changed(spoiled, random);
  return spoiled;
}

function changed(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const kind = random.below(12);
  if (kind === 0) return bytes.subarray(0, at);
  if (kind === 1) return spliced(bytes, { at, cut: 1 + random.below(12), piece: NOTHING });
  if (kind === 2) return spliced(bytes, { at, cut: 0, piece: bytes.subarray(at, at + random.below(40)) });
  if (kind === 3) return bitTurned(bytes, at, random);
  if (kind === 4) return spliced(bytes, { at, cut: 1, piece: Buffer.from([random.below(256)]) });
  return spliced(bytes, { at, cut: random.below(3), piece: random.pick(PIECES) });
}

function spliced(bytes: Buffer, splice: { at: number; cut: number; piece: Buffer }): Buffer {
  const { at, cut, piece } = splice;
  return Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + cut)]);
}

function bitTurned(bytes: Buffer, at: number, random: Random): Buffer {
  const turned = Buffer.from(bytes);
  if (at < turned.length) turned[at] = (turned[at] ?? 0) ^ (1 << random.below(8));
  return turned;
}

const NOTHING = Buffer.alloc(0);

/** Not UTF-8: half characters, overlong forms, surrogates as bytes, beyond U+10FFFF, UTF-16. */
const PIECES = [...fuzzEntries('bad UTF-8'), ...fuzzEntries('pieces of JSON')];

/** A JSON object's members as texts, `"name":value`, with one or two mistakes. */
export function spoilMembers(members: string[], random: Random): string[] {
  const once = random.pick(SPOILS)(members, random);
  return random.chance(0.2) ? random.pick(SPOILS)(once, random) : once;
}

type Spoil = (members: string[], random: Random) => string[];

const SPOILS: Spoil[] = [otherValue, otherValue, otherValue, without, twice, respelled, strangerAdded];

function otherValue(members: string[], random: Random): string[] {
  const at = random.below(members.length);
  return members.with(at, `${nameOf(members[at])}:${fuzzValue(random)}`);
}

function without(members: string[], random: Random): string[] {
  return members.toSpliced(random.below(members.length), 1);
}

/** Of two members with one name the last one counts. */
function twice(members: string[], random: Random): string[] {
  const name = nameOf(random.pick(members));
  const second = `${name}:${fuzzValue(random)}`;
  return random.chance(0.5) ? [second, ...members] : [...members, second];
}

/** The same name in escapes is the same name; any other spelling is a stranger's. */
function respelled(members: string[], random: Random): string[] {
  const at = random.below(members.length);
  const member = members[at] ?? '';
  const name = nameOf(member).slice(1, -1);
  const rest = member.slice(nameOf(member).length);
  const escaped = [...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const spelling = random.pick([escaped, name.toUpperCase(), `${name} `, `\\u0000${name}`, '__proto__', '']);
  return members.with(at, `"${spelling}"${rest}`);
}

function strangerAdded(members: string[], random: Random): string[] {
  const known = ['__proto__', 'constructor', 'toJSON', 'then', 'id', 'a b'];
  const name = random.pick([...known, 'x'.repeat(1_000), '']);
  return members.toSpliced(random.below(members.length + 1), 0, `"${name}":${fuzzValue(random)}`);
}

/** With its quotes. No name of ours holds one. */
function nameOf(member: string | undefined): string {
  return /^"[^"]*"/.exec(member ?? '')?.[0] ?? '""';
}

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
