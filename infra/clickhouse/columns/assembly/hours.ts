/**
 * The hours of a block: one after the other while its rows are written, since these are sorted by
 * environment, customer, meter and hour.
 */
import { beginEntries } from './entries';
import { HOUR_LIST, HOURS, placeTallies, ROW_NAMES, ROW_OCCURRED, TALLY_BYTES } from './places';
import { addProperties, beginProperties, endPropertiesOfHour } from './property-values';
import { propertyCount, rowCount } from './rows';
import { HOUR_MS, hourOf } from './sort';
import { addToTally, beginTallies, beginTally, rowRoom, setEvent } from './tallies';
import { beginWords } from './words';

export let hourCount: i32 = 0;
/** Room that their rows need, but for the texts that they count. */
export let hourRoom: i32 = 0;
export let orderedSince: i64 = 0;
/** Some event is not tallied here. */
let isLeftOut: bool = false;

/** For which there is memory; a block of the load has 80,000 rows. */
const TALLIES_MAX: i32 = 1_000_000;
/** Of hours: in seconds they are 32 bits. */
const HOUR_END: i64 = 0x1_0000_0000 / 3600;

let isTallied: bool = false;
let isByProperty: bool = false;
let hour: i32 = 0; // the tally
let names: i32 = -1;
let beginsAtMs: i64 = 0;

/** Before the rows are written. Gives where the memory has to end; 0 when there are too many. */
export function planRollups(byProperty: bool): i32 {
  const properties = byProperty ? propertyCount : 0;
  isTallied = rowCount + properties <= TALLIES_MAX;
  isByProperty = byProperty;
  return isTallied ? placeTallies(rowCount, properties) : 0;
}

export function withoutRollups(): void {
  isTallied = false;
}

/** The memory ends where it has to. `orderedSinceMs`: see infra/clickhouse/columns/made-events.ts. */
export function beginRollups(seed: u64, orderedSinceMs: i64): void {
  orderedSince = orderedSinceMs;
  beginEntries(seed);
  beginWords();
  beginTallies();
  beginProperties();
  hourCount = 0;
  hourRoom = 0;
  isLeftOut = false;
  names = -1;
}

/** In the order of the block. */
export function addToRollups(row: i32): void {
  if (!isTallied) return;
  setEvent(row);
  const isOfHour = load<i64>(row + ROW_OCCURRED) - beginsAtMs < HOUR_MS;
  if (isOfHour && load<i32>(row + ROW_NAMES) == names) addToTally(hour, row);
  else beginHour(row);
  if (isByProperty && !addProperties(row, hourCount)) isLeftOut = true;
}

function beginHour(row: i32): void {
  endHour();
  const number = hourOf(row);
  if (number < 0 || number > HOUR_END) isLeftOut = true;
  names = load<i32>(row + ROW_NAMES);
  beginsAtMs = number * HOUR_MS;
  hour = HOURS + hourCount * TALLY_BYTES;
  store<i32>(HOUR_LIST + hourCount * 4, hour);
  hourCount++;
  beginTally(hour, row);
}

/** After the last row. False when some event is not tallied here. */
export function endRollups(): bool {
  endHour();
  return !isLeftOut;
}

function endHour(): void {
  if (names < 0) return;
  hourRoom += rowRoom(hour);
  if (isByProperty) endPropertiesOfHour(hour);
  names = -1;
}
