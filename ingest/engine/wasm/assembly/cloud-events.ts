// CloudEvents of the common form, written as bodies of usage batches in one pass over their bytes. Compiled
// to ../cloud-events.wasm. It takes only bodies that can be read in one way: arrays of events, or one, whose
// types have one mapping each and whose texts need no escape. ingest/events/usage-item.ts takes everything
// else and is the oracle: for a body that both take, both write the same items.

import { isSame, put, putByte, putDecimal, putText } from './bytes';
import {
  ATTRIBUTES,
  BODY,
  KIND,
  LABEL_AT,
  LABEL_BYTES,
  MAPPINGS,
  MEMBER_NAME_AT,
  MEMBER_NAME_BYTES,
  METER_AT,
  METER_BYTES,
  NEXT,
  NONE,
  NUMBER,
  ODD,
  OUTPUT,
  PROPERTIES,
  PROPERTY_BYTES,
  PROPERTY_COUNT,
  TEXT,
  TYPE_AT,
  TYPE_BYTES,
  VALUE_AT,
  VALUE_BYTES,
  VALUE_NAME_AT,
  VALUE_NAME_BYTES,
} from './cloud-event-places';
import { beginData, findMember, isPlain, readData } from './event-members';
import { beginCount, skipValue, valueCount } from './json-values';
import { beginScan, isBare, isWide, readNumber, readText, skipSpace, take } from './scanner';
import { timestampMs } from './timestamp';

export { BODY, MAPPINGS, MAPPINGS_END, OUTPUT } from './cloud-event-places';

const NOT_OURS: i32 = -1;
const ITEMS_MAX: i32 = 500;
/** One item more is under 64 KiB. */
const OUTPUT_BYTES: i32 = 0x8_0000;
const EVENTS_MAX: i32 = 10_000;
/** With attributes fewer than the oracle takes. */
const VALUES_MAX: i32 = 100_000;
const KEY_BYTES_MAX: i32 = 255;
const TYPE_BYTES_MAX: i32 = 256;
const SUBJECT_BYTES_MAX: i32 = 128;
const VALUE_BYTES_MAX: i32 = 256;

const COMMA: u8 = 44;
const COLON: u8 = 58;
const QUOTE: u8 = 34;
const OPEN_LIST: u8 = 91;
const CLOSE_LIST: u8 = 93;
const OPEN: u8 = 123;
const CLOSE: u8 = 125;

// Attributes, each a bit.
const ID: i32 = 1;
const SOURCE: i32 = 2;
const TYPE: i32 = 4;
const SUBJECT: i32 = 8;
const VERSION: i32 = 16;
const TIME: i32 = 32;
const DATA: i32 = 64;
const BINARY: i32 = 128;
const REQUIRED: i32 = 31;
// Where their texts are.
const ID_TEXT: i32 = ATTRIBUTES;
const SOURCE_TEXT: i32 = ATTRIBUTES + 8;
const TYPE_TEXT: i32 = ATTRIBUTES + 16;
const SUBJECT_TEXT: i32 = ATTRIBUTES + 24;
const TIME_TEXT: i32 = ATTRIBUTES + 40;

// Names as little-endian words.
const ID_WORD: u64 = 0x6469;
const TYPE_WORD: u64 = 0x65707974;
const TIME_WORD: u64 = 0x656d6974;
const DATA_WORD: u64 = 0x61746164;
const SOURCE_WORD: u64 = 0x656372756f73;
const SUBJECT_WORD: u64 = 0x7463656a627573;
const SPECVERS_WORD: u64 = 0x7372657663657073;
const ION_WORD: u32 = 0x6e6f69;
const DATA_BAS_WORD: u64 = 0x7361625f61746164;
const E64_WORD: u32 = 0x343665;
const VERSION_1: u32 = 0x302e31;

const HEAD: string = '{"events":[';
const KEY: string = '{"idempotencyKey":"ce:';
const CUSTOMER: string = '","customerId":"';
const METER: string = '","meterId":"';
const VALUE: string = '","value":';
const OCCURRED: string = ',"occurredAt":"';
const PROPERTIES_HEAD: string = ',"properties":{';

let cursor: i32 = 0;
let bodyEnd: i32 = 0;
let isList: bool = false;
let isOver: bool = false;
let eventCount: i32 = 0;
let outputEnd: i32 = OUTPUT;
let mapping: i32 = 0;

/** The body is at BODY with a zero byte behind it, the mappings at MAPPINGS. */
export function begin(bytes: i32): void {
  beginScan(true);
  beginCount();
  bodyEnd = BODY + bytes;
  cursor = skipSpace(BODY);
  isList = load<u8>(cursor) == OPEN_LIST;
  if (isList) cursor = take(cursor, OPEN_LIST);
  isOver = false;
  eventCount = 0;
  mapping = MAPPINGS;
}

/** 1: an array of events. */
export function isArray(): bool {
  return isList;
}

/** The next 500 events at most as a batch at OUTPUT: how many; 0: no more; -1: the body is not ours. */
export function writeBatch(): i32 {
  if (isOver) return 0;
  let count = 0;
  let at = cursor;
  let to = putText(HEAD, OUTPUT);
  while (count < ITEMS_MAX && to - OUTPUT < OUTPUT_BYTES && !isOver) {
    if (count > 0) to = putByte(COMMA, to);
    at = readEvent(at);
    if (at == 0) return NOT_OURS;
    to = writeItem(to);
    if (to == 0) return NOT_OURS;
    count++;
    at = behindEvent(at);
    if (at == 0) return NOT_OURS;
  }
  eventCount += count;
  if (eventCount > EVENTS_MAX || valueCount > VALUES_MAX) return NOT_OURS;
  cursor = at;
  store<u16>(to, 0x7d5d); // ]}
  outputEnd = to + 2;
  return count;
}

export function outputBytes(): i32 {
  return outputEnd - OUTPUT;
}

/** Where the next event begins, or the body ends. */
function behindEvent(at: i32): i32 {
  if (isList && isBare(at, COMMA)) return at + 1;
  at = skipSpace(at);
  if (isList && load<u8>(at) == COMMA) return skipSpace(at + 1);
  isOver = true;
  if (isList) at = take(at, CLOSE_LIST);
  return at == bodyEnd ? at : 0;
}

function readEvent(at: i32): i32 {
  let named = 0;
  beginData();
  for (let next = take(at, OPEN); next != 0; next = isBare(at, COMMA) ? at + 1 : take(at, COMMA)) {
    const end = readText(next);
    if (end == 0) return 0;
    const attribute = attributeAt(next + 1, end - next - 1);
    at = isBare(end + 1, COLON) ? end + 2 : take(end + 1, COLON);
    if (at == 0 || (named & attribute) != 0) return 0;
    named |= attribute;
    at = attribute == 0 ? skipValue(at) : readAttribute(attribute, at);
    if (at == 0) return 0;
  }
  if ((named & REQUIRED) != REQUIRED) return 0;
  if ((named & TIME) == 0) store<i32>(TIME_TEXT + 4, 0);
  return isBare(at, CLOSE) ? at + 1 : take(at, CLOSE);
}

/** Which attribute has this name; 0: one that means nothing here. */
function attributeAt(at: i32, bytes: i32): i32 {
  const word = load<u64>(at);
  if (bytes == 4) {
    const name = word & 0xffff_ffff;
    return name == TYPE_WORD ? TYPE : name == TIME_WORD ? TIME : name == DATA_WORD ? DATA : 0;
  }
  if (bytes == 2) return (word & 0xffff) == ID_WORD ? ID : 0;
  if (bytes == 6) return (word & 0xffff_ffff_ffff) == SOURCE_WORD ? SOURCE : 0;
  if (bytes == 7) return (word & 0xff_ffff_ffff_ffff) == SUBJECT_WORD ? SUBJECT : 0;
  if (bytes != 11) return 0;
  const rest = load<u32>(at + 8) & 0xff_ffff;
  if (word == SPECVERS_WORD && rest == ION_WORD) return VERSION;
  return word == DATA_BAS_WORD && rest == E64_WORD ? BINARY : 0;
}

function readAttribute(attribute: i32, at: i32): i32 {
  if (attribute == DATA) return readData(at);
  if (attribute == BINARY) return 0;
  const end = readText(at);
  const bytes = end - ++at;
  if (end == 0 || bytes == 0 || isWide) return 0;
  if (attribute == VERSION && (bytes != 3 || (load<u32>(at) & 0xff_ffff) != VERSION_1)) return 0;
  if (attribute == TYPE && bytes > TYPE_BYTES_MAX) return 0;
  if (attribute == SUBJECT && bytes > SUBJECT_BYTES_MAX) return 0;
  if (attribute == TIME && !(timestampMs(at, bytes) >= 0)) return 0;
  const text = ATTRIBUTES + (ctz(attribute) << 3);
  store<i32>(text, at);
  store<i32>(text + 4, bytes);
  return end + 1;
}

/** What the event that was just read adds to its meter. Returns where it ends; 0: not ours. */
function writeItem(to: i32): i32 {
  if (!findMapping()) return 0;
  to = writeKey(putText(KEY, to));
  if (to == 0) return 0;
  to = putAttribute(SUBJECT_TEXT, putText(CUSTOMER, to));
  to = put(load<i32>(mapping + METER_AT), load<i32>(mapping + METER_BYTES), putText(METER, to));
  to = writeValue(putText(VALUE, to));
  if (to == 0) return 0;
  if (load<i32>(TIME_TEXT + 4) != 0) {
    to = putByte(QUOTE, putAttribute(TIME_TEXT, putText(OCCURRED, to)));
  }
  to = writeProperties(to);
  return to == 0 ? 0 : putByte(CLOSE, to);
}

function putAttribute(text: i32, to: i32): i32 {
  return put(load<i32>(text), load<i32>(text + 4), to);
}

/** That of the event's type: most events have that of the event before. */
function findMapping(): bool {
  if (isMapped()) return true;
  for (mapping = MAPPINGS; mapping != 0; mapping = load<i32>(mapping + NEXT)) if (isMapped()) return true;
  mapping = MAPPINGS;
  return false;
}

function isMapped(): bool {
  const bytes = load<i32>(mapping + TYPE_BYTES);
  return (
    load<i32>(TYPE_TEXT + 4) == bytes && isSame(load<i32>(TYPE_TEXT), load<i32>(mapping + TYPE_AT), bytes)
  );
}

/** As ingest/events/event-key.ts. All of it is ASCII: lengths in bytes are those in characters. */
function writeKey(to: i32): i32 {
  const from = to;
  const sourceBytes = load<i32>(SOURCE_TEXT + 4);
  const idBytes = load<i32>(ID_TEXT + 4);
  const meterBytes = load<i32>(mapping + METER_BYTES);
  if (sourceBytes + idBytes + meterBytes > KEY_BYTES_MAX) return 0;
  to = putByte(COLON, putDecimal(sourceBytes, to));
  to = putByte(COLON, putDecimal(idBytes, to));
  to = putByte(COLON, putAttribute(SOURCE_TEXT, to));
  to = putByte(COLON, putAttribute(ID_TEXT, to));
  to = put(load<i32>(mapping + METER_AT), meterBytes, to);
  // With `ce:` in front.
  return to - from + 3 <= KEY_BYTES_MAX ? to : 0;
}

function writeValue(to: i32): i32 {
  const bytes = load<i32>(mapping + VALUE_NAME_BYTES);
  if (bytes == 0) return putByte(49, to);
  const member = findMember(load<i32>(mapping + VALUE_NAME_AT), bytes);
  if (member == 0) return 0;
  const kind = load<i32>(member + KIND);
  const at = load<i32>(member + VALUE_AT);
  const valueBytes = load<i32>(member + VALUE_BYTES);
  if (valueBytes > VALUE_BYTES_MAX || (kind != NUMBER && kind != TEXT)) return 0;
  // Some gateways send numbers as texts.
  if (kind == TEXT) {
    const end = readNumber(at);
    if (end != at + valueBytes || !isPlain(at, end)) return 0;
  }
  return put(at, valueBytes, to);
}

function writeProperties(to: i32): i32 {
  const first = mapping + PROPERTIES;
  const end = first + load<i32>(mapping + PROPERTY_COUNT) * PROPERTY_BYTES;
  let isFirst = true;
  for (let property = first; property < end; property += PROPERTY_BYTES) {
    const member = findMember(load<i32>(property + MEMBER_NAME_AT), load<i32>(property + MEMBER_NAME_BYTES));
    const kind = member == 0 ? NONE : load<i32>(member + KIND);
    if (kind == NONE) continue;
    const bytes = load<i32>(member + VALUE_BYTES);
    if (kind == ODD || bytes > VALUE_BYTES_MAX) return 0;
    to = isFirst ? putText(PROPERTIES_HEAD, to) : putByte(COMMA, to);
    isFirst = false;
    to = put(load<i32>(property + LABEL_AT), load<i32>(property + LABEL_BYTES), to);
    if (kind == TEXT) to = putByte(QUOTE, to);
    to = put(load<i32>(member + VALUE_AT), bytes, to);
    if (kind == TEXT) to = putByte(QUOTE, to);
  }
  return isFirst ? to : putByte(CLOSE, to);
}
