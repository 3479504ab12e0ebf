import { compiledWasm } from '../../../infra/platform/compiled-wasm.ts';
import type { UsageRequest } from '../../../infra/ports/engine.ts';
import type { ClaimBatch } from '../../../infra/ports/idempotency-store.ts';
import { RECORD_BYTES, RECORD_WORDS } from '../../../schemas/stored/record.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import type { CustomerMeter } from '../../registry-entries.ts';
import { withoutMark } from '../js/parse.ts';
import { createCustomerMeterTexts } from './customer-meter-texts.ts';

/** The wasm module of assembly/wasm-engine.ts: one memory, one request at a time. */
interface WasmExports extends Places {
  memory: { buffer: ArrayBuffer };
  readBatch(bytes: number, isStrict: boolean): number;
  readLines(bytes: number, isStrict: boolean): number;
  readSingle(bytes: number, keyBytes: number, isStrict: boolean): number;
  pairCount(): number;
  findKnown(environment: number, from: number): number;
  putKnown(index: number, texts: number): void;
  forgetKnown(): void;
  isTimely(count: number, oldestMs: number, newestMs: number): number;
  identify(count: number, nowMs: number): void;
  response(count: number, created: number, duplicate: number, reusedBytes: number): number;
  event(numbersAsText: boolean): number;
  lines(count: number, arrival: number): number;
}

type Places = Record<(typeof PLACES)[number], { value: number }>;
const PLACES = [
  'BODY',
  'HEADER_KEY',
  'ITEMS',
  'ITEM_BYTES',
  'KEYS',
  'NUMBERS',
  'OUTCOMES',
  'OUTPUT',
  'PAIRS',
  'PAIR_AT',
  'PAIR_BYTES',
  'PAIR_CREATED',
  'PAIR_FROM',
  'PAIR_TEXT',
  'PAIR_TEXTS',
  'PAIR_TEXTS_END',
  'PAIR_TO',
  'READ_ONLY',
  'RECORDS',
  'REUSED',
  'TEXT_NUMBER',
] as const;

export type WasmModule = ReturnType<typeof createWasmModule>;

/**
 * The calls between JavaScript and the memory of the wasm engine.
 *
 * @param reused the end of the result for a key that was used for another event.
 */
export function createWasmModule(reused = '') {
  const opened = openModule();
  const { wasm, memory, at } = opened;
  const pairAt = (index: number) => at.PAIRS + index * at.PAIR_BYTES;
  const room = { memory, from: at.PAIR_TEXTS, to: at.PAIR_TEXTS_END };
  const texts = createCustomerMeterTexts(room, wasm.forgetKnown);
  const reusedBytes = memory.write(reused, at.REUSED);

  /** A place and a length are there. */
  function textAt(place: number): string {
    const from = memory.readInt32LE(place);
    return memory.toString('latin1', from, from + memory.readInt32LE(place + 4));
  }

  return {
    wasm,
    texts,
    read: createReader(opened),
    useKey: createKeyUse(opened),
    ...createViews(opened),
    /** Customer and meter as they were sent. */
    namesOf(index: number): [string, string] {
      const customerMeter = pairAt(index);
      return [textAt(customerMeter), textAt(customerMeter + 8)];
    },
    /** That one of the request's, once its texts are known. */
    customerMeter(index: number): CustomerMeter {
      const place = memory.readInt32LE(pairAt(index) + at.PAIR_TEXT);
      return texts.customerMeter(memory.readInt32LE(place + at.TEXT_NUMBER));
    },
    /** Which (customer, meter) of the request an item is of. */
    customerMeterOf: (item: number) =>
      (memory.readInt32LE(at.ITEMS + item * at.ITEM_BYTES + at.PAIR_AT) - at.PAIRS) / at.PAIR_BYTES,
    /** The span of occurredAt of its created events; undefined when it has none. */
    touchedSpan(index: number): { occurredFromMs: number; occurredToMs: number } | undefined {
      const customerMeter = pairAt(index);
      if (memory.readInt32LE(customerMeter + at.PAIR_CREATED) === 0) return undefined;
      return {
        occurredFromMs: memory.readDoubleLE(customerMeter + at.PAIR_FROM),
        occurredToMs: memory.readDoubleLE(customerMeter + at.PAIR_TO),
      };
    },
    // Copies: the memory belongs to the next request.
    responseInto(take: Take, count: number, created: number, duplicate: number): Buffer {
      return copyInto(take, memory, at.OUTPUT, wasm.response(count, created, duplicate, reusedBytes));
    },
    event: (numbersAsText: boolean) =>
      copyInto(Buffer.allocUnsafe, memory, at.OUTPUT, wasm.event(numbersAsText)),
    linesInto: (count: number, arrival: number, take: Take) =>
      copyInto(take, memory, at.OUTPUT, wasm.lines(count, arrival)),
    /** No copy: it lasts until the next request is read. No Buffer either, which costs twice as much. */
    lines: (count: number, arrival: number) =>
      new Uint8Array(memory.buffer, at.OUTPUT, wasm.lines(count, arrival)),
  };
}

/** Views of the memory, valid until the next request is read. */
function createViews({ memory, at }: OpenModule) {
  /** Made once: three views cost as much as all else that one event needs here. */
  const ofOne = viewsOf(memory, at, 1);
  const recordOfOne = memory.subarray(at.RECORDS, at.RECORDS + RECORD_BYTES);
  const numberOfOne = new Uint16Array(memory.buffer, at.NUMBERS, 1);
  return {
    /** What the key table judges, and where it leaves its outcomes. */
    claimBatch: (count: number) => (count === 1 ? ofOne : viewsOf(memory, at, count)),
    records: (created: number) =>
      created === 1 ? recordOfOne : memory.subarray(at.RECORDS, at.RECORDS + created * RECORD_BYTES),
    /** Of each created event, which (customer, meter) of the request it is of, once lines were written. */
    numbers: (created: number) =>
      created === 1 ? numberOfOne : new Uint16Array(memory.buffer, at.NUMBERS, created),
  };
}

/** The bytes of a key never change: of the same environment as before they are there already. */
function createKeyUse({ memory, at }: OpenModule): (key: Uint8Array) => void {
  let inUse: Uint8Array | undefined;
  return (key) => {
    if (key !== inUse) memory.set(key, at.KEYS);
    inUse = key;
  };
}

function viewsOf(memory: Buffer, at: OpenModule['at'], count: number): ClaimBatch {
  return {
    count,
    records: new Uint32Array(memory.buffer, at.RECORDS, count * RECORD_WORDS),
    readOnly: memory.subarray(at.READ_ONLY, at.READ_ONLY + count),
    outcomes: memory.subarray(at.OUTCOMES, at.OUTCOMES + count),
  };
}

type OpenModule = ReturnType<typeof openModule>;

/** Reads a body; the count of its items, or -1 when the js engine has to take it. */
function createReader({ wasm, memory, at }: OpenModule) {
  return ({ body, kind, idempotencyKey = '', isStrict = false }: ReadRequest): number => {
    const json = withoutMark(body);
    memory.set(json, at.BODY);
    memory[at.BODY + json.length] = 0;
    if (kind === 'batch') return wasm.readBatch(json.length, isStrict);
    if (kind === 'ndjson') return wasm.readLines(json.length, isStrict);
    if (idempotencyKey.length > USAGE_LIMITS.idempotencyKeyCharsMax) return -1;
    return wasm.readSingle(json.length, writeText(memory, idempotencyKey, at.HEADER_KEY), isStrict);
  };
}

/** Its bytes in UTF-8, character by character while they are ASCII: a native call costs more than a key. */
function writeText(memory: Buffer, text: string, place: number): number {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return memory.write(text, place);
    memory[place + index] = code;
  }
  return text.length;
}

type ReadRequest = Pick<UsageRequest, 'body' | 'kind' | 'idempotencyKey' | 'isStrict'>;

/** Gives memory of the caller's: at least so many bytes. */
type Take = (bytes: number) => Buffer;

function copyInto(take: Take, memory: Buffer, from: number, bytes: number): Buffer {
  const buffer = take(bytes);
  memory.copy(buffer, 0, from, from + bytes);
  return buffer.length === bytes ? buffer : buffer.subarray(0, bytes);
}

function openModule() {
  const compiled = compiledWasm(new URL('./wasm-engine.wasm', import.meta.url));
  const wasm = new WebAssembly.Instance(compiled).exports as unknown as WasmExports;
  const places = PLACES.map((name) => [name, wasm[name].value]);
  const at = Object.fromEntries(places) as Record<(typeof PLACES)[number], number>;
  return { wasm, memory: Buffer.from(wasm.memory.buffer), at };
}
