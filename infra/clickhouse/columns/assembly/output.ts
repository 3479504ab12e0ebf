import { addToRollups } from './hours';
import { environmentCount, meterCount } from './names';
import {
  ENVIRONMENTS,
  METERS,
  NAMES,
  NAMES_BYTES,
  NAMES_CUSTOMER,
  NAMES_ENVIRONMENT_INDEX,
  NAMES_METER_INDEX,
  OUTPUT,
  PROPERTY_BYTES,
  ROW_CREATED,
  ROW_FINGERPRINT,
  ROW_ID,
  ROW_NAMES,
  ROW_OCCURRED,
  ROW_PROPERTIES,
  ROW_PROPERTY_COUNT,
  ROW_UNIQUE,
  ROW_VALUE,
  TEXT_BYTES,
} from './places';
import {
  customerBytes,
  ID_BYTES,
  propertyNameBytes,
  propertyValueBytes,
  rowCount,
  uniqueBytes,
} from './rows';
import { rowAt } from './sort';
import { copy, copyString, putConstant, varUint } from './texts';

const COLUMN_COUNT: i32 = 10;
/** infra/clickhouse/native/native-types.ts */
export const DICTIONARY_VERSION: u64 = 1;
export const OWN_DICTIONARY: u64 = 0x600;

/** Where the next row goes in each column: all of them are written row by row. */
let environments: i32 = 0;
let customers: i32 = 0;
let meters: i32 = 0;
let ids: i32 = 0;
let fingerprints: i32 = 0;
let values: i32 = 0;
let uniques: i32 = 0;
let offsets: i32 = 0;
let propertyNames: i32 = 0;
let propertyValues: i32 = 0;
let occurred: i32 = 0;
let created: i32 = 0;
let place: i32 = 0;
let properties: u64 = 0;

/** Writes what is in front of each column; returns where the block will end. */
export function beginOutput(): i32 {
  place = 0;
  properties = 0;
  let to = varUint(rowCount, varUint(COLUMN_COUNT, OUTPUT));
  environments = dictionary('environment', ENVIRONMENTS, environmentCount, to);
  to = environments + rowCount * indexBytes(environmentCount);
  customers = head('customer_id', 'String', to);
  to = customers + customerBytes;
  meters = dictionary('meter_key', METERS, meterCount, to);
  to = meters + rowCount * indexBytes(meterCount);
  ids = head('id', 'String', to);
  to = ids + rowCount * (ID_BYTES + 1);
  fingerprints = head('fingerprint', 'UInt64', to);
  to = fingerprints + rowCount * 8;
  values = head('value', 'Decimal(38, 12)', to);
  to = values + rowCount * 16;
  uniques = head('unique_value', 'String', to);
  to = uniques + uniqueBytes;
  offsets = head('properties', 'Map(String, String)', to);
  propertyNames = offsets + rowCount * 8;
  propertyValues = propertyNames + propertyNameBytes;
  to = propertyValues + propertyValueBytes;
  occurred = head('occurred_at', "DateTime64(3, 'UTC')", to);
  to = occurred + rowCount * 8;
  created = head('created_at', "DateTime64(3, 'UTC')", to);
  return created + rowCount * 8;
}

export function head(name: string, type: string, to: i32): i32 {
  return putConstant(type, putConstant(name, to));
}

function dictionary(name: string, texts: i32, count: i32, at: i32): i32 {
  let to = head(name, 'LowCardinality(String)', at);
  store<u64>(to, DICTIONARY_VERSION);
  store<u64>(to + 8, OWN_DICTIONARY | (indexBytes(count) >> 1));
  store<u64>(to + 16, count);
  to += 24;
  for (let index = 0; index < count; index++) {
    const text = texts + index * TEXT_BYTES;
    to = copyString(load<i32>(text), load<i32>(text + 4), to);
  }
  store<u64>(to, rowCount);
  return to + 8;
}

export function indexBytes(count: i32): i32 {
  if (count <= 256) return 1;
  return count <= 65_536 ? 2 : 4;
}

export function putIndex(index: i32, count: i32, to: i32): i32 {
  const bytes = indexBytes(count);
  if (bytes == 1) store<u8>(to, <u8>index);
  else if (bytes == 2) store<u16>(to, <u16>index);
  else store<u32>(to, index);
  return to + bytes;
}

/** Writes so many more rows, and adds them to the rollups. */
export function writeRows(count: i32): void {
  for (const end = place + count; place < end; place++) {
    const row = rowAt(place);
    writeRow(row);
    addToRollups(row);
  }
}

function writeRow(row: i32): void {
  const names = NAMES + load<i32>(row + ROW_NAMES) * NAMES_BYTES;
  environments = putIndex(load<i32>(names + NAMES_ENVIRONMENT_INDEX), environmentCount, environments);
  customers = copyString(load<i32>(names + NAMES_CUSTOMER), load<i32>(names + NAMES_CUSTOMER + 4), customers);
  meters = putIndex(load<i32>(names + NAMES_METER_INDEX), meterCount, meters);
  store<u8>(ids, <u8>ID_BYTES);
  ids = copy(load<i32>(row + ROW_ID), ID_BYTES, ids + 1);
  store<u64>(fingerprints, load<u64>(row + ROW_FINGERPRINT));
  fingerprints += 8;
  v128.store(values, v128.load(row + ROW_VALUE));
  values += 16;
  uniques = copyString(load<i32>(row + ROW_UNIQUE), load<i32>(row + ROW_UNIQUE + 4), uniques);
  writeProperties(load<i32>(row + ROW_PROPERTIES), load<i32>(row + ROW_PROPERTY_COUNT));
  store<u64>(occurred, load<u64>(row + ROW_OCCURRED));
  occurred += 8;
  store<u64>(created, load<u64>(row + ROW_CREATED));
  created += 8;
}

function writeProperties(first: i32, count: i32): void {
  properties += count;
  store<u64>(offsets, properties);
  offsets += 8;
  for (let at = first, end = first + count * PROPERTY_BYTES; at < end; at += PROPERTY_BYTES) {
    propertyNames = copyString(load<i32>(at), load<i32>(at + 4), propertyNames);
    propertyValues = copyString(load<i32>(at + 8), load<i32>(at + 12), propertyValues);
  }
}
