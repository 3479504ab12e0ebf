import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Frame } from '../../../schemas/stored/frame.ts';
import { compiledWasm } from '../../platform/compiled-wasm.ts';
import type { EventLines } from '../../ports/warehouse.ts';
import type { MadeEvents, Take, WantedRollups } from './made-events.ts';
import { createWasmRollups, type RollupExports } from './wasm-rollups.ts';

/** The module of assembly/columns.ts: one memory, one block at a time. */
interface Exports extends RollupExports {
  memory: { buffer: ArrayBuffer; grow(pages: number): number };
  linesAt(): number;
  countLines(at: number, bytes: number): number;
  plan(lineBytes: number, rows: number): number;
  begin(seed: bigint, inputBytes: number): void;
  /** 0 when a line has a form that it does not read. */
  readLines(count: number): number;
  /** The same of frames. */
  readEvents(count: number): number;
  sort(): number;
  beginBlock(): number;
  outputAt(): number;
  writeRows(count: number): void;
}

/**
 * Makes columns of events, which must not change meanwhile, and rows of rollups. Undefined for lines that
 * only the plain writer reads. One call at a time.
 */
export type WasmColumns = (
  lines: EventLines,
  take: Take,
  wanted?: WantedRollups,
) => Promise<MadeEvents | undefined>;

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

  function put(parts: readonly Buffer[], bytes: number): void {
    const memory = memoryTo(wasm.linesAt() + bytes + PADDING_BYTES);
    let at = wasm.linesAt();
    for (const part of parts) {
      memory.set(part, at);
      at += part.length;
    }
    memory.fill(0, at, at + PADDING_BYTES);
  }

  function countLines(lines: Buffer): number {
    return lines.at(-1) === LINE_FEED ? wasm.countLines(wasm.linesAt(), lines.length) : 0;
  }

  const rollups = createWasmRollups(wasm, memoryTo, seed);

  return async (lines, take, wanted) => {
    const parts = 'frames' in lines ? lines.frames.map((frame) => frame.bytes) : [lines];
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    if (bytes > LINE_BYTES_MAX || !areUtf8(lines)) return undefined;
    put(parts, bytes);
    const rows = 'frames' in lines ? countEvents(lines.frames) : countLines(lines);
    if (rows === 0 || rows > ROWS_MAX) return undefined;
    memoryTo(wasm.plan(bytes, rows));
    wasm.begin(seed, bytes);
    const read = 'frames' in lines ? wasm.readEvents : wasm.readLines;
    for (const part of turns(rows)) {
      if (read(part) === 0) return undefined;
      await nextTurn();
    }
    memoryTo(wasm.sort());
    const areMade = rollups.begin(wanted);
    const block = take(wasm.beginBlock());
    for (const part of turns(rows)) {
      await nextTurn();
      wasm.writeRows(part);
    }
    Buffer.from(wasm.memory.buffer, wasm.outputAt(), block.length).copy(block);
    return { block: { rows, bytes: block }, ...(areMade && (await rollups.end(wanted, take))) };
  };
}

function areUtf8(lines: EventLines): boolean {
  return 'frames' in lines ? lines.frames.every((frame) => isUtf8(frame.lines)) : isUtf8(lines);
}

function countEvents(frames: readonly Frame[]): number {
  return frames.reduce((sum, { eventCount }) => sum + eventCount, 0);
}

const LINE_FEED = 10;

function* turns(rows: number): Iterable<number> {
  for (let left = rows; left > 0; left -= ROWS_A_TURN) yield Math.min(left, ROWS_A_TURN);
}
