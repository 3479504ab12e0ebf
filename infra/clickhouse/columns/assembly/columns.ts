/**
 * Usage events as columns of `events` in ClickHouse's format Native, sorted by the table's key, and rows of
 * its rollups. Its calls in this order: `linesAt`, where lines of rows (schemas/stored/event-row.ts) or whole
 * frames are put, `countLines`, `plan`, `begin`, `readLines` or `readEvents` until all are read, `sort`;
 * `withoutRollups`, or `planRollups` and `beginRollups`; `beginBlock`, `writeRows` until all are written.
 * Then `endRollups`, `rollupsEnd`, and one after the other in the same memory: `beginHourRows` with its
 * columns, `writeUses`, `beginPropertyRows` with its columns.
 * It reads what the ingest tier writes nearly always, and nothing else.
 */
import { beginFrames } from './frames';
import { beginLines } from './lines';
import { rankNames, setSeed } from './names';
import { beginOutput } from './output';
import { OUTPUT, PROPERTIES, PROPERTY_BYTES, placeOutput } from './places';
import { beginRows, customerBytes, propertyCount, rowCount } from './rows';
import { sortRows } from './sort';

export { readEvents } from './frames';
export { beginRollups, endRollups, planRollups, withoutRollups } from './hours';
export { readLines } from './lines';
export { writeRows } from './output';
export { linesAt, plan } from './places';
export * from './rollup-blocks';

const LINE_FEED: u8 = 10;

/** The memory has 16 bytes behind them that are no line feeds. */
export function countLines(at: i32, bytes: i32): i32 {
  const feed = i8x16.splat(LINE_FEED);
  let count = 0;
  for (let done = 0; done < bytes; done += 16) {
    count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at + done), feed)));
  }
  return count;
}

/** `inputBytes`: of the lines or frames. */
export function begin(seed: u64, inputBytes: i32): void {
  setSeed(seed);
  beginRows();
  beginLines();
  beginFrames(inputBytes);
}

/** After all lines or events were read. Gives where the memory has to end for the block. */
export function sort(): i32 {
  rankNames();
  sortRows();
  return placeOutput(PROPERTIES + propertyCount * PROPERTY_BYTES, rowCount, customerBytes);
}

/** Returns how many bytes the block has; they begin at `outputAt`. */
export function beginBlock(): i32 {
  return beginOutput() - OUTPUT;
}

export function outputAt(): i32 {
  return OUTPUT;
}
