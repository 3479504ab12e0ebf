import { compiledWasm } from '../../../infra/platform/compiled-wasm.ts';
import { IDENTITY_WORDS } from '../../../schemas/stored/record.ts';

/** The keyed hash behind event ids and fingerprints, over one small wasm memory. */
export interface Identifier {
  /** 32 bytes of key: 16 for the id, 16 for the fingerprint. */
  setKey(key: Uint8Array): void;
  /**
   * SipHash-2-4-128 of the idempotency key, which holds no U+0000, and SipHash-2-4-64 of the fingerprint's
   * text, both as UTF-8. Returns `use_<26 base32>","<fingerprint in decimal>`: two columns as they are in a
   * line.
   */
  identify(idempotencyKey: string, fingerprintText: string): string;
  /** Puts what was identified last into a record: id (4 words), fingerprint (2 words). */
  copyTo(records: Uint32Array, at: number): void;
}

interface SiphashModule {
  memory: { buffer: ArrayBuffer };
  KEYS: { value: number };
  OUTPUT: { value: number };
  TEXT: { value: number };
  INPUT: { value: number };
  identify(bytes: number): number;
}

export function createIdentifier(): Identifier {
  const wasm = compiledWasm(new URL('./siphash.wasm', import.meta.url));
  const siphash = new WebAssembly.Instance(wasm).exports as unknown as SiphashModule;
  const memory = Buffer.from(siphash.memory.buffer);
  const keys = siphash.KEYS.value;
  const text = siphash.TEXT.value;
  const input = siphash.INPUT.value;
  const words = new Uint32Array(siphash.memory.buffer, siphash.OUTPUT.value, IDENTITY_WORDS);
  return {
    setKey: (key) => memory.set(key, keys),
    identify(idempotencyKey, fingerprintText) {
      // One call into native code instead of two: wasm finds the U+0000 between them.
      const bytes = memory.write(`${idempotencyKey}\u0000${fingerprintText}`, input);
      return memory.toString('latin1', text, text + siphash.identify(bytes));
    },
    copyTo(records, at) {
      // Word by word: TypedArray.set costs 5 × as much for six of them.
      for (let word = 0; word < IDENTITY_WORDS; word++) records[at + word] = words[word] ?? 0;
    },
  };
}
