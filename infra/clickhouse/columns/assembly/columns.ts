/**
 * Lines of usage events (schemas/stored/event-row.ts) as columns of `events` in ClickHouse's format Native,
 * sorted by the table's key. Its calls in this order: `linesAt`, where the lines are put, `countLines`,
 * `plan`, `begin`, `readLines` until all are read, `sort`, `beginBlock`, `writeRows` until all are written.
 * It reads lines as the ingest tier writes nearly all of them, and no others.
 */
import { beginLines, propertyCount } from './lines';
import { rankNames, setSeed } from './names';
import { beginOutput } from './output';
import { OUTPUT, PROPERTIES, PROPERTY_BYTES, placeOutput } from './places';
import { sortRows } from './sort';

export { readLines } from './lines';
export { writeRows } from './output';
export { linesAt, plan } from './places';

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

export function begin(seed: u64): void {
  setSeed(seed);
  beginLines();
}

/** After all lines were read. */
export function sort(): void {
  rankNames();
  sortRows();
}

/** Returns how many bytes the block has; they begin at `outputAt`. */
export function beginBlock(): i32 {
  placeOutput(PROPERTIES + propertyCount * PROPERTY_BYTES);
  return beginOutput() - OUTPUT;
}

export function outputAt(): i32 {
  return OUTPUT;
}
