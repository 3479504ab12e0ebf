import { markedNumber } from '../../support/exact.ts';
import type { MeantEvent, MeantProperty } from '../../support/planned-event.ts';
import type { World } from '../../support/world.ts';
import { type FuzzRequest, isUsage } from './fuzz-request.ts';
import {
  hasUnsoundText,
  inflated,
  isTaggedObject,
  isUnsound,
  memberOf,
  numberOf,
  readTagged,
  roundedValue,
  type Tagged,
  textOf,
  wholeText,
} from './read-tagged.ts';

/** The response that the contract requires: one of `rejected`, or the items one by one. */
export type Expected =
  | { rejected: Set<string> }
  | { items: ExpectedItem[] }
  /** A control-plane body that was read: created, or rejected with one of these. */
  | { created: Tagged; rejected: Set<string> };

const BODY_BYTES_MAX = 1024 * 1024;
const BATCH_ITEMS_MAX = 500;

export function expectResponse(request: FuzzRequest, world: World): Expected {
  const { target, headers, body } = request;
  const mediaType = (headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase();
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const lines = target === 'batch' && mediaType === 'application/x-ndjson';
  if (!lines && mediaType !== 'application/json') return rejectedAs('unsupported_media_type');
  if (encoding !== 'identity' && !(encoding === 'gzip' && isUsage(target))) {
    return rejectedAs('unsupported_media_type');
  }
  if (body.length > BODY_BYTES_MAX) return rejectedAs('payload_too_large');
  const sent = encoding === 'gzip' ? inflated(body, BODY_BYTES_MAX) : body;
  const whole = sent instanceof Buffer ? withoutMark(sent) : sent;
  const headerFault = target === 'single' ? headerKeyFault(headers['idempotency-key']) : undefined;
  if (headerFault !== undefined) return rejectedAs(headerFault);
  if (whole === 'too large') return rejectedAs('payload_too_large');
  if (whole === undefined) return rejectedAs('invalid_gzip');
  if (lines) return expectLines(whole, world);
  const read = readTagged(whole);
  if (!read) return rejectedAs('invalid_json');
  if (target === 'single') return expectSingle(read.value, headers['idempotency-key'], world);
  return target === 'batch' ? expectBatch(read.value, world) : expectCreation(read.value, headers);
}

/** A byte order mark in front of a body is skipped. */
function withoutMark(body: Buffer): Buffer {
  return body.subarray(body.toString('latin1', 0, 3) === '\u00ef\u00bb\u00bf' ? 3 : 0);
}

function rejectedAs(...codes: string[]): Expected {
  return { rejected: new Set(codes) };
}

/** A header beyond ASCII, or with a tab in it: what the client meant is unknowable. */
function headerKeyFault(key: string | undefined): string | undefined {
  return key !== undefined && /[^\x20-\x7e]/.test(key) ? 'idempotency_key_invalid' : undefined;
}

function expectSingle(value: Tagged, header: string | undefined, world: World): Expected {
  if (!isTaggedObject(value)) return rejectedAs('invalid_request');
  const member = memberOf(value, 'idempotencyKey') ?? undefined;
  const own = member === '$' && header?.trim() ? undefined : member;
  const given = header?.trim() ? `$${header.trim()}` : undefined;
  if (given !== undefined && own !== undefined && own !== given) return rejectedAs('idempotency_key_invalid');
  return { items: [expectItem(value, given ?? own, world)] };
}

function expectBatch(value: Tagged, world: World): Expected {
  const events = isTaggedObject(value) ? memberOf(value, 'events') : undefined;
  return Array.isArray(events) ? expectItems(events, world) : rejectedAs('invalid_request');
}

function expectItems(items: Tagged[], world: World): Expected {
  if (items.length > BATCH_ITEMS_MAX) return rejectedAs('batch_too_large');
  return {
    items: items.map((item) => {
      return expectItem(item, isTaggedObject(item) ? memberOf(item, 'idempotencyKey') : undefined, world);
    }),
  };
}

/** Line by line, and no further than the first that is too many. */
function expectLines(body: Buffer, world: World): Expected {
  const items: Tagged[] = [];
  for (const line of body.toString('latin1').split('\n')) {
    if (/^[ \t\r]*$/.test(line)) continue;
    const read = readTagged(Buffer.from(line, 'latin1'));
    if (!read) return rejectedAs('invalid_json');
    items.push(read.value);
    if (items.length > BATCH_ITEMS_MAX) return rejectedAs('batch_too_large');
  }
  return expectItems(items, world);
}

/** Which fields a customer or a meter needs is for the tests of those; here it is how JSON is read. */
function expectCreation(value: Tagged, headers: Record<string, string>): Expected {
  if (hasUnsoundText(value)) return rejectedAs('invalid_request');
  const key = headers['idempotency-key'];
  const keyCodes = key === undefined ? [] : ['idempotency_key_invalid', 'idempotency_key_reused'];
  return {
    created: value,
    rejected: new Set(['invalid_request', 'value_invalid', 'already_exists', ...keyCodes]),
  };
}

/** What the API's rules for usage events say of one item, read by the judge's own rules. */
export interface ExpectedItem {
  /** Codes of everything that is wrong with its form, in no order: any of them may be returned. */
  faults: Set<string>;
  /** What is wrong with the customer, the meter or the time; not checked for a replay. */
  stateFaults: Set<string>;
  /** It may be rejected with one of these and may as well be stored. */
  maybe: Set<string>;
  echoedKey: string;
  /** There when the form is right. */
  meant?: Meant;
}

/** Names instead of places: the meter may be one that the product makes now. */
export interface Meant extends Omit<MeantEvent, 'customer' | 'meter'> {
  customer: string;
  meter: string;
}

const KEY_CHARS_MAX = 255;
const ID_CHARS_MAX = 128;
const DAY_MS = 86_400_000;

/** `key` is the item's own, or the header of a single event. */
function expectItem(item: Tagged, key: Tagged | undefined, world: World): ExpectedItem {
  const echoedKey = textOf(key) ?? '';
  const expected: ExpectedItem = {
    faults: new Set(),
    stateFaults: new Set(),
    maybe: new Set(),
    echoedKey,
  };
  if (!isTaggedObject(item)) {
    expected.faults.add('invalid_request');
    return expected;
  }
  const { faults } = expected;
  const customer = readName(memberOf(item, 'customerId'), faults);
  const meter = readName(memberOf(item, 'meterId'), faults);
  const value = readValue(memberOf(item, 'value'), faults);
  const occurredAtMs = readTime(memberOf(item, 'occurredAt'), faults);
  const properties = readProperties(memberOf(item, 'properties'), faults);
  judgeKey(key, faults);
  if (faults.size > 0) return expected;
  newEventRejection(expected, { customer, meter, occurredAtMs }, world);
  return { ...expected, meant: { key: echoedKey, customer, meter, value, occurredAtMs, properties } };
}

function judgeKey(key: Tagged | undefined, faults: Set<string>): void {
  const text = textOf(key);
  if (key === undefined || key === null || text === '') faults.add('idempotency_key_missing');
  else if (text === undefined || text.length > KEY_CHARS_MAX || isUnsound(text) || /\p{Cc}/u.test(text)) {
    faults.add('idempotency_key_invalid');
  }
}

function readName(value: Tagged | undefined, faults: Set<string>): string {
  const text = textOf(value) ?? '';
  if (text === '' || text.length > ID_CHARS_MAX || isUnsound(text)) faults.add('invalid_request');
  return text;
}

function readValue(value: Tagged | undefined, faults: Set<string>): bigint {
  const text = numberOf(value);
  if (text === undefined) faults.add('invalid_request');
  const read = text === undefined ? 0n : roundedValue(text);
  if (read === undefined) faults.add('value_invalid');
  return read ?? 0n;
}

const CLOCK = String.raw`((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?`;
const OFFSET = String.raw`(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))`;
const TIME = new RegExp(String.raw`^(\d{4}-\d\d-\d\d)[Tt ]${CLOCK}${OFFSET}$`);

function readTime(value: Tagged | undefined, faults: Set<string>): number | undefined {
  if (value === undefined || value === null) return undefined;
  const [, date = '', time, second = '00', fraction = '', ...offset] = TIME.exec(textOf(value) ?? '') ?? [];
  const [sign = '+', hours = '0', minutes = '0'] = offset;
  const midnight = new Date(`${date}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
  if (date === '' || !isDay) {
    faults.add('invalid_request');
    return undefined;
  }
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  return Date.parse(`${date}T${time}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`) - offsetMs;
}

const PROPERTIES_MAX = 32;
const NAME_CHARS_MAX = 64;
const TEXT_CHARS_MAX = 256;

/** A number beyond the limits may be reported as the property's fault or as the number's. */
function readProperties(value: Tagged | undefined, faults: Set<string>): MeantProperty[] {
  if (value === undefined || value === null) return [];
  if (!isTaggedObject(value)) {
    faults.add('invalid_request');
    return [];
  }
  const names = Object.keys(value)
    .map((name) => name.slice(1))
    .filter((name) => memberOf(value, name) !== null);
  if (names.length > PROPERTIES_MAX) faults.add('invalid_request');
  return names.sort().flatMap((name) => {
    const property = readProperty(name, memberOf(value, name));
    const fits = name !== '' && name.length <= NAME_CHARS_MAX && !isUnsound(name);
    if (!fits || property === undefined) faults.add('invalid_request').add('value_invalid');
    return property ?? [];
  });
}

function readProperty(name: string, value: Tagged | undefined): MeantProperty | undefined {
  if (typeof value === 'boolean') return { name, json: String(value), label: String(value), shown: value };
  const number = numberOf(value);
  if (number !== undefined) {
    const label = wholeText(number, TEXT_CHARS_MAX);
    if (label === undefined) return undefined;
    return { name, json: number, label, shown: markedNumber(label) };
  }
  const text = textOf(value);
  if (text === undefined || text.length > TEXT_CHARS_MAX || isUnsound(text)) return undefined;
  return { name, json: JSON.stringify(text), label: text, shown: text };
}

const AGE_MS_MAX = 400 * DAY_MS;
const AHEAD_MS_MAX = 5 * 60_000;
/** Between the judge's look at the clock and the product's. */
const CLOCK_SLACK_MS = 60_000;

type Named = Pick<Meant, 'customer' | 'meter' | 'occurredAtMs'>;

function newEventRejection({ stateFaults, maybe }: ExpectedItem, named: Named, world: World): void {
  const { customer, meter, occurredAtMs: at } = named;
  if (!world.customers.some(({ id, externalId }) => customer === id || customer === externalId)) {
    stateFaults.add('customer_not_found');
  }
  const known = world.meters.some(({ id, key }) => meter === key || (id !== '' && meter === id));
  // One more is made at once, as long as there are not a thousand.
  if (!known) (/^(meter_|\.\.?$)/.test(meter) ? stateFaults : maybe).add('meter_not_found');
  if (at === undefined) return;
  judgeBound('event_too_old', Date.now() - AGE_MS_MAX - at, { stateFaults, maybe });
  judgeBound('event_in_future', at - Date.now() - AHEAD_MS_MAX, { stateFaults, maybe });
}

function judgeBound(
  code: string,
  beyondMs: number,
  { stateFaults, maybe }: Pick<ExpectedItem, 'stateFaults' | 'maybe'>,
): void {
  if (beyondMs > CLOCK_SLACK_MS) stateFaults.add(code);
  else if (beyondMs > -CLOCK_SLACK_MS) maybe.add(code);
}
