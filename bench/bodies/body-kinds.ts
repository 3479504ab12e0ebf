import { CUSTOMER } from '../../infra/ports/conformance/engine-session.ts';
import type { UsageRequest } from '../../infra/ports/engine.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';

export type Body = Pick<UsageRequest, 'kind' | 'body'>;

/** The ordinary one, and all that were thought of as slow for either engine. */
export function bodyKinds(): Record<string, Body> {
  return {
    ordinary: batch(fill(() => item(), 500)),
    'ordinary lines': { kind: 'ndjson', body: Buffer.from(fill(() => item(), 500).join('\n')) },
    ...PROPERTIES,
    ...VALUES,
    ...TIMES,
    ...TO_JS_ENGINE,
    ...DENSE,
    ...REJECTED,
  };
}

const BYTES_MAX = USAGE_LIMITS.bodyBytesMax;
const times = (text: string, count: number) => text.repeat(count);
const members = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at));
let keys = 0;

interface Parts {
  customer?: string;
  value?: string;
  key?: string;
  occurredAt?: string;
  properties?: string;
  /** Behind the others. */
  more?: string;
}

/** One event as clients send it, with what differs. */
function item(parts: Parts = {}): string {
  const { customer = `"${CUSTOMER}"`, value = '123.456', key = `"key-${keys++}"` } = parts;
  const { occurredAt = '"2026-11-20T10:00:00.000Z"', more = '' } = parts;
  const { properties = '{"p0":"value-123","p1":17,"p2":true}' } = parts;
  const names = `"customerId":${customer},"meterId":"api_calls","value":${value},"idempotencyKey":${key}`;
  return `{${names},"occurredAt":${occurredAt},"properties":${properties}${more}}`;
}

/** The same with the fewest bytes besides its properties: what these cost, the others do not hide. */
function shortItem(properties: string): string {
  const names = `"customerId":"acme","meterId":"seats","value":1,"idempotencyKey":"${(keys++).toString(36)}"`;
  return `{${names},"properties":${properties}}`;
}

/** As many as a body takes. */
function fill(make: (at: number) => string, countMax: number = USAGE_LIMITS.batchItemsMax): string[] {
  const items: string[] = [];
  for (let bytes = 20; items.length < countMax; ) {
    const one = make(items.length);
    bytes += one.length + 1;
    if (bytes > BYTES_MAX) break;
    items.push(one);
  }
  return items;
}

function batch(items: string[]): Body {
  return text(`{"events":[${items.join(',')}]}`);
}

function text(body: string): Body {
  return { kind: 'batch', body: Buffer.from(body) };
}

const each = (parts: (at: number) => Parts): Body => batch(fill((at) => item(parts(at))));
const object = (all: string[]) => `{${all.join(',')}}`;
const backwards = (beginning: string) =>
  object(members(32, (at) => `"${beginning}${String(31 - at).padStart(2, '0')}":1`));

/** One letter each: the shortest that 32 names can be. */
const letters = (value: string, beginning = '') =>
  members(32, (at) => `"${beginning}${String.fromCharCode((at < 26 ? 65 : 71) + at)}":${value}`);
const LETTERS = letters('1');
/** Another order for each item. */
const shuffled = (all: string[], item: number) =>
  all.map((_, at) => all[(at * (2 * item + 1) + item) % all.length] ?? '');

const shortInAnyOrder = (all: string[]) => batch(fill((at) => shortItem(object(shuffled(all, at)))));

const PROPERTIES: Record<string, Body> = {
  'properties in order': each(() => ({ properties: object(members(32, (at) => `"p${100 + at}":1`)) })),
  'properties in any order': each((at) => ({ properties: object(shuffled(LETTERS, at)) })),
  'short events, properties in any order': shortInAnyOrder(LETTERS),
  'short events, other names each time': batch(
    fill((at) => shortItem(object([...LETTERS.slice(1), `"~${at}":1`]))),
  ),
  'short events, the last not in order': batch(
    fill((at) => shortItem(object([...LETTERS.slice(1), at % 2 === 0 ? '"~":1' : '"A":1']))),
  ),
  'short events, negative numbers in any order': shortInAnyOrder(letters('-1')),
  'short events, fractions in any order': shortInAnyOrder(letters('0.1')),
  'short events, empty texts in any order': shortInAnyOrder(letters('""')),
  'short events, booleans in any order': shortInAnyOrder(letters('true')),
  'short events, names of one beginning in any order': shortInAnyOrder(letters('1', 'abc')),
  'short events without properties': batch(fill(() => shortItem('{}'))),
  'properties in order but the last': each((at) => ({
    properties: object([...LETTERS.slice(1), at % 2 === 0 ? '"~":1' : '"A":1']),
  })),
  'properties in order, other names each time': each((at) => ({
    properties: object([...LETTERS.slice(1), `"~${at}":1`]),
  })),
  'properties backwards': each(() => ({ properties: backwards('p') })),
  'properties backwards, long names': each(() => ({ properties: backwards(times('x', 62)) })),
  'properties of long texts': each(() => ({
    properties: object(members(32, (at) => `"p${at}":"${times('x', 200)}"`)),
  })),
  'properties of long numbers': each(() => ({
    properties: object(members(32, (at) => `"p${at}":${times('7', 250)}`)),
  })),
  'one property too many': each(() => ({ properties: object(members(33, (at) => `"p${at}":1`)) })),
};

const VALUES: Record<string, Body> = {
  'value of 1,500 fraction digits': each(() => ({ value: `0.${times('9', 1_500)}` })),
  'value of 1,500 digits': each(() => ({ value: times('9', 1_500) })),
  'value with exponent': each(() => ({ value: '1e3' })),
  'value of a million digits': batch([item({ value: times('9', BYTES_MAX - 400) })]),
};

const TIMES: Record<string, Body> = {
  'time with offset': each(() => ({ occurredAt: '"2026-11-20T10:00:00.123456+01:00"' })),
};

const TO_JS_ENGINE: Record<string, Body> = {
  'unknown member': each(() => ({ more: ',"extra":1' })),
  'unknown member in the last': batch([...fill(() => item(), 499), item({ more: ',"extra":1' })]),
  'a hundred unknown members': each(() => ({ more: `,${members(100, (at) => `"u${at}":1`).join(',')}` })),
  'name twice': each(() => ({ more: ',"value":1' })),
  'escaped text': each(() => ({ properties: `{"p0":"${times('\\n', 300)}"}` })),
  'key beyond ASCII': each((at) => ({ key: `"é${at}"` })),
  'time without seconds': each(() => ({ occurredAt: '"2026-11-20T10:00Z"' })),
  'cut off': text(`{"events":[${fill(() => item()).join(',')}]`),
};

const DENSE: Record<string, Body> = {
  'open brackets': text(`{"events":${times('[', BYTES_MAX - 20)}`),
  'deep member': batch([item({ more: `,"x":${times('[', 500_000)}${times(']', 500_000)}` })]),
  'deep objects': batch([item({ more: `,"x":${times('{"a":', 170_000)}1${times('}', 170_000)}` })]),
  'too many items': batch(Array<string>(300_000).fill('{}')),
  'names of one item': batch([object(members(60_000, (at) => `"k${at}":1`))]),
  'names of one batch': text(object([...members(60_000, (at) => `"k${at}":1`), '"events":[]'])),
  'names of one batch without events': text(object(members(60_000, (at) => `"a_b_${at}":1`))),
  'blank lines': { kind: 'ndjson', body: Buffer.alloc(BYTES_MAX, '\n') },
  blanks: each(() => ({ more: times(' ', 1_800) })),
};

const REJECTED: Record<string, Body> = {
  'unknown customers': each((at) => ({ customer: `"nobody-${at}"` })),
  'too old': each(() => ({ occurredAt: '"2020-11-20T10:00:00.000Z"' })),
  'empty items': batch(Array<string>(500).fill('{}')),
};
