const MASK = (1n << 64n) - 1n;
/**
 * SipHash-2-4 as the paper writes it (Aumasson and Bernstein, 2012), with 64 or 128 bits of output, under a
 * key of 16 bytes. For single values: ingest hashes by the WebAssembly form (ingest/engine/wasm), some
 * hundred times faster, whose tests compare it with this one.
 */
export function sipHash(key: Uint8Array, input: Uint8Array, outputBytes: 8 | 16): Buffer {
  const [k0, k1] = [wordAt(key, 0), wordAt(key, 8)];
  const v = [
    k0 ^ 0x736f6d6570736575n,
    k1 ^ 0x646f72616e646f6dn,
    k0 ^ 0x6c7967656e657261n,
    k1 ^ 0x7465646279746573n,
  ];
  if (outputBytes === 16) v[1] = v1(v) ^ 0xeen;
  const padded = Buffer.alloc(Math.floor(input.length / 8) * 8 + 8);
  padded.set(input);
  padded[padded.length - 1] = input.length & 255;
  for (let at = 0; at < padded.length; at += 8) {
    const word = wordAt(padded, at);
    v[3] = (v[3] ?? 0n) ^ word;
    rounds(v, 2);
    v[0] = (v[0] ?? 0n) ^ word;
  }
  v[2] = (v[2] ?? 0n) ^ (outputBytes === 16 ? 0xeen : 0xffn);
  const output = Buffer.alloc(outputBytes);
  output.writeBigUInt64LE(finish(v), 0);
  if (outputBytes === 8) return output;
  v[1] = v1(v) ^ 0xddn;
  output.writeBigUInt64LE(finish(v), 8);
  return output;
}

const v1 = (v: bigint[]) => v[1] ?? 0n;
const rotate = (word: bigint, by: bigint) => ((word << by) | (word >> (64n - by))) & MASK;

function rounds(v: bigint[], count: number): void {
  let [a = 0n, b = 0n, c = 0n, d = 0n] = v;
  for (let round = 0; round < count; round++) {
    a = (a + b) & MASK;
    b = rotate(b, 13n) ^ a;
    a = rotate(a, 32n);
    c = (c + d) & MASK;
    d = rotate(d, 16n) ^ c;
    a = (a + d) & MASK;
    d = rotate(d, 21n) ^ a;
    c = (c + b) & MASK;
    b = rotate(b, 17n) ^ c;
    c = rotate(c, 32n);
  }
  v.splice(0, 4, a, b, c, d);
}

function finish(v: bigint[]): bigint {
  rounds(v, 4);
  return v.reduce((a, b) => a ^ b);
}

function wordAt(bytes: Uint8Array, at: number): bigint {
  return Buffer.from(bytes).readBigUInt64LE(at);
}
