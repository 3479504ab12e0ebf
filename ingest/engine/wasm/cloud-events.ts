import { isUtf8 } from 'node:buffer';
import { compiledWasm } from '../../../infra/platform/compiled-wasm.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import { withoutMark } from '../js/parse.ts';

/** What events of one type add to the one meter that counts them. All texts are ASCII without escapes. */
export interface EventMapping {
  type: string;
  meterKey: string;
  /** The member of `data` that has the value; undefined: each event counts 1. */
  valueName: string | undefined;
  properties: Array<{ name: string; memberName: string }>;
}

/** Bytes for {@link EventWriter}. Made once: it uses them as long as they are the same object. */
export type PreparedMappings = { readonly bytes: Buffer };

export interface WrittenEvents {
  isArray: boolean;
  /** Each with the items of at most 500 events, in order: one for each event. */
  bodies: Buffer[];
}

/** Undefined: not of the common form, which says nothing about the body. It is read in this call only. */
export type EventWriter = (body: Buffer, mappings: PreparedMappings) => WrittenEvents | undefined;

interface WasmExports {
  memory: { buffer: ArrayBuffer };
  BODY: { value: number };
  MAPPINGS: { value: number };
  MAPPINGS_END: { value: number };
  OUTPUT: { value: number };
  begin(bytes: number): void;
  isArray(): number;
  writeBatch(): number;
  outputBytes(): number;
}

/** Writes CloudEvents as the bodies of usage batches: assembly/cloud-events.ts. */
export function createEventWriter(): EventWriter {
  let module: ReturnType<typeof openModule> | undefined;
  let inUse: PreparedMappings | undefined;

  return (body, mappings) => {
    if (body.length > USAGE_LIMITS.bodyBytesMax || !isUtf8(body)) return undefined;
    // An installation without such events does without its memory.
    module ??= openModule();
    const { wasm, memory, at } = module;
    if (mappings !== inUse) memory.set(mappings.bytes, at.mappings);
    inUse = mappings;
    const json = withoutMark(body);
    memory.set(json, at.body);
    memory[at.body + json.length] = 0;
    wasm.begin(json.length);
    const bodies: Buffer[] = [];
    let count = wasm.writeBatch();
    for (; count > 0; count = wasm.writeBatch()) {
      bodies.push(Buffer.from(memory.subarray(at.output, at.output + wasm.outputBytes())));
    }
    return count < 0 ? undefined : { isArray: wasm.isArray() === 1, bodies };
  };
}

function openModule() {
  const compiled = compiledWasm(new URL('./cloud-events.wasm', import.meta.url));
  const wasm = new WebAssembly.Instance(compiled).exports as unknown as WasmExports;
  const at = { body: wasm.BODY.value, mappings: wasm.MAPPINGS.value, output: wasm.OUTPUT.value };
  return { wasm, memory: Buffer.from(wasm.memory.buffer), at };
}

/** As in assembly/cloud-event-places.ts. */
const MAPPINGS_AT = 0x1_0000;
const MAPPINGS_BYTES = 0x1_0000;
/** Comparisons read up to 15 bytes behind a text. */
const SPARE_BYTES = 16;
const MAPPING_WORDS = 8;
const PROPERTY_WORDS = 4;
const WORD_BYTES = 4;

/** Undefined: there are none, or they take more room than there is. */
export function prepareMappings(mappings: readonly EventMapping[]): PreparedMappings | undefined {
  if (mappings.length === 0) return undefined;
  const bytes = Buffer.alloc(MAPPINGS_BYTES);
  let end = 0;
  for (const [index, { type, meterKey, valueName = '', properties }] of mappings.entries()) {
    const texts = [type, meterKey, valueName];
    for (const { name, memberName } of properties) texts.push(memberName, `"${name}":`);
    const words = MAPPING_WORDS + properties.length * PROPERTY_WORDS;
    const textBytes = texts.reduce((sum, text) => sum + text.length, 0);
    const from = end;
    end = from + words * WORD_BYTES;
    if (end + textBytes + SPARE_BYTES > MAPPINGS_BYTES) return undefined;
    const places = texts.flatMap((text) => {
      const at = MAPPINGS_AT + end;
      end += bytes.write(text, end, 'latin1');
      return [at, text.length];
    });
    end += -end & 3;
    const next = index === mappings.length - 1 ? 0 : MAPPINGS_AT + end;
    const head = [next, ...places.slice(0, 6), properties.length];
    for (const [place, word] of [...head, ...places.slice(6)].entries()) {
      bytes.writeInt32LE(word, from + place * WORD_BYTES);
    }
  }
  return { bytes: bytes.subarray(0, end + SPARE_BYTES) };
}
