import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compiledWasm } from '../../platform/compiled-wasm.ts';
import type { RowBlock } from '../../ports/warehouse.ts';

/** The module of assembly/columns.ts: one memory, one block at a time. */
interface Exports {
  memory: { buffer: ArrayBuffer; grow(pages: number): number };
  linesAt(): number;
  countLines(at: number, bytes: number): number;
  plan(lineBytes: number, rows: number): number;
  begin(seed: bigint): void;
  /** 0 when a line has a form that it does not read. */
  readLines(count: number): number;
  sort(): void;
  beginBlock(): number;
  outputAt(): number;
  writeRows(count: number): void;
}

/** Gives memory of the caller's: so many bytes. */
export type Take = (bytes: number) => Buffer;

/**
 * Makes columns of lines, which must not change meanwhile. Undefined for lines that only the plain writer
 * reads. One call at a time.
 */
export type WasmColumns = (lines: Buffer, take: Take) => Promise<RowBlock | undefined>;

/** A few milliseconds of work. In between this process serves requests. */
const ROWS_A_TURN = 8_000;
const PAGE_BYTES = 65_536;
/** Behind the lines: no line feed, and the end of every search. */
const PADDING_BYTES = 64;
/** For which the module has places; the load's blocks have half of it. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const ROWS_MAX = 400_000;

export function openWasmColumns(): WasmColumns {
  const compiled = compiledWasm(new URL('./columns.wasm', import.meta.url));
  const wasm = new WebAssembly.Instance(compiled).exports as unknown as Exports;
  const seed = randomBytes(8).readBigUInt64LE();

  /** The memory up to there; what it was before is another object. */
  function memoryTo(end: number): Buffer {
    const missing = end - wasm.memory.buffer.byteLength;
    if (missing > 0) wasm.memory.grow(Math.ceil(missing / PAGE_BYTES));
    return Buffer.from(wasm.memory.buffer);
  }

  return async (lines, take) => {
    if (lines.length > LINE_BYTES_MAX || !isUtf8(lines)) return undefined;
    const [at, end] = [wasm.linesAt(), wasm.linesAt() + lines.length];
    const memory = memoryTo(end + PADDING_BYTES);
    memory.set(lines, at);
    memory.fill(0, end, end + PADDING_BYTES);
    const rows = wasm.countLines(at, lines.length);
    if (rows === 0 || rows > ROWS_MAX || memory[end - 1] !== LINE_FEED) return undefined;
    memoryTo(wasm.plan(lines.length, rows));
    wasm.begin(seed);
    for (const part of turns(rows)) {
      if (wasm.readLines(part) === 0) return undefined;
      await nextTurn();
    }
    wasm.sort();
    const bytes = take(wasm.beginBlock());
    for (const part of turns(rows)) {
      await nextTurn();
      wasm.writeRows(part);
    }
    Buffer.from(wasm.memory.buffer, wasm.outputAt(), bytes.length).copy(bytes);
    return { rows, bytes };
  };
}

const LINE_FEED = 10;

function* turns(rows: number): Iterable<number> {
  for (let left = rows; left > 0; left -= ROWS_A_TURN) yield Math.min(left, ROWS_A_TURN);
}
