import { readFileSync } from 'node:fs';
import { createPairTexts } from './pair-texts.ts';

/** The wasm module of assembly/fast-door.ts: one memory, one request at a time. */
interface FastDoorModule extends Places {
  memory: { buffer: ArrayBuffer };
  readBatch(bytes: number): number;
  readLines(bytes: number): number;
  pairCount(): number;
  identify(count: number, nowMs: number, oldestMs: number, newestMs: number): number;
  answer(count: number, created: number, duplicate: number, reusedBytes: number): number;
  lines(count: number): number;
}

type Places = Record<(typeof PLACES)[number], { value: number }>;
const PLACES = [
  'BODY',
  'KEYS',
  'OUTCOMES',
  'OUTPUT',
  'PAIRS',
  'PAIR_TEXTS',
  'PAIR_TEXTS_END',
  'READ_ONLY',
  'RECORDS',
  'REUSED',
] as const;

/** The two names of a pair as a request has them; words of assembly/places.ts. */
const PAIR_WORDS = 10;
const PAIR_TEXT_WORD = 4;

export type FastDoor = ReturnType<typeof createFastDoor>;

/** What crosses between JavaScript and the memory of the fast door. */
export function createFastDoor() {
  const compiled = new WebAssembly.Module(readFileSync(new URL('./fast-door.wasm', import.meta.url)));
  const wasm = new WebAssembly.Instance(compiled).exports as unknown as FastDoorModule;
  const memory = Buffer.from(wasm.memory.buffer);
  const at = Object.fromEntries(PLACES.map((name) => [name, wasm[name].value])) as Record<
    (typeof PLACES)[number],
    number
  >;
  const words = new Int32Array(wasm.memory.buffer);
  const numbers = new Float64Array(wasm.memory.buffer);
  const pairWord = (index: number) => at.PAIRS / 4 + index * PAIR_WORDS;
  const texts = createPairTexts(memory, at.PAIR_TEXTS, at.PAIR_TEXTS_END);

  return {
    wasm,
    texts,
    /** Reads a body; the count of its items, or -1 when it is not the fast door's. */
    read(body: Buffer, kind: 'batch' | 'ndjson'): number {
      memory.set(body, at.BODY);
      memory[at.BODY + body.length] = 0;
      return kind === 'batch' ? wasm.readBatch(body.length) : wasm.readLines(body.length);
    },
    useKey: (key: Uint8Array) => memory.set(key, at.KEYS),
    /** Customer and meter of a pair as they were sent. */
    namesOf(index: number): [string, string] {
      const [customer = 0, customerBytes = 0, meter = 0, meterBytes = 0] = words.subarray(pairWord(index));
      return [
        memory.toString('latin1', customer, customer + customerBytes),
        memory.toString('latin1', meter, meter + meterBytes),
      ];
    },
    setText(index: number, place: number): void {
      words[pairWord(index) + PAIR_TEXT_WORD] = place;
    },
    /** The span of occurredAt of a pair's created events; undefined when it has none. */
    touchedSpan(index: number): { occurredFromMs: number; occurredToMs: number } | undefined {
      const word = pairWord(index);
      if (words[word + 5] === 0) return undefined;
      return { occurredFromMs: numbers[word / 2 + 3] ?? 0, occurredToMs: numbers[word / 2 + 4] ?? 0 };
    },
    /** What the key table judges, and where it leaves its outcomes. */
    claimBatch: (count: number) => ({
      count,
      records: new Uint32Array(memory.buffer, at.RECORDS, count * 10),
      readOnly: memory.subarray(at.READ_ONLY, at.READ_ONLY + count),
      outcomes: memory.subarray(at.OUTCOMES, at.OUTCOMES + count),
    }),
    setReused: (text: string) => memory.write(text, at.REUSED),
    /** Copies: the memory belongs to the next request. */
    output: (bytes: number) => Buffer.from(memory.subarray(at.OUTPUT, at.OUTPUT + bytes)),
    records: (bytes: number) => Buffer.from(memory.subarray(at.RECORDS, at.RECORDS + bytes)),
  };
}
