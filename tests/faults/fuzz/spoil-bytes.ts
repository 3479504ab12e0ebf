import type { Random } from '../../support/random.ts';
import { fuzzEntries } from './text-table.ts';

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

interface Splice {
  at: number;
  cut: number;
  piece: Buffer;
}

function spliced(bytes: Buffer, { at, cut, piece }: Splice): Buffer {
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
