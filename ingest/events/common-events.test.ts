import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCommonEvents } from './common-events.ts';
import type { EventsForm } from './events-head.ts';
import { listenerOf } from './listener.ts';
import { readEvents } from './read-events.ts';
import { usageBatches } from './usage-batches.ts';

const METERS = [
  { key: 'tokens', eventSource: { eventType: 'prompt', valueProperty: '$.tokens', groupBy: GROUPS() } },
  { key: 'calls', eventSource: { eventType: 'call', groupBy: { who: 'user' } } },
  { key: 'deep', eventSource: { eventType: 'deep', valueProperty: '$.usage.tokens' } },
  { key: 'large', eventSource: { eventType: 'large', filters: { model: ['x'] } } },
];
const LISTENERS = new Map(
  METERS.map((one) => [
    one.eventSource.eventType,
    [listenerOf({ aggregation: 'sum', property: undefined, ...one })],
  ]),
);
const write = createCommonEvents();

function GROUPS(): Record<string, string> {
  return { model: '$.model', ok: '$.ok', 'a b': "$['a b']" };
}

const itemsIn = (bodies: readonly Buffer[]) =>
  bodies.map((body) => String(body).slice('{"events":['.length, -']}'.length)).join(',');

/** What the other way makes of it; undefined where it rejects any of it. */
function itemsByObjects(form: EventsForm, body: Buffer): string | undefined {
  const sent = readEvents(form, new Map(), body);
  if ('rejection' in sent) return undefined;
  const { events, isValid } = sent.eventsFor(LISTENERS);
  const usage = usageBatches(events, LISTENERS);
  if ('rejection' in usage || !isValid || usage.faults.size > 0 || usage.unmetered > 0) return undefined;
  return itemsIn(usage.batches.map((batch) => batch.body));
}

/** True if it is of the common form, and then both ways have to write the same. */
function isTaken(body: Buffer, form: EventsForm = 'either'): boolean {
  const written = write(form, body, LISTENERS);
  if (!written) return false;
  expect(itemsIn(written.bodies), String(body)).toBe(itemsByObjects(form, body));
  return true;
}

/** 1.5 s. */
const RUNS = 6_000;
const SPACE = fc.constantFrom('', '', '', '', '', ' ', '\n', '\t ');
const objectOf = (members: Array<[string, string]>, space: string) => {
  const texts = members.map(([name, value]) => `"${name}"${space}:${space}${value}`);
  return `{${space}${texts.join(`${space},${space}`)}${space}}`;
};
const shuffled = (members: Array<[string, string]>) =>
  fc.shuffledSubarray(members, { minLength: members.length });

const NUMBERS = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,5})(\.[0-9]{0,3}[1-9])?$/),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/),
  fc.constantFrom('0.0000001', '-0', '1.50', '1e3', '01', '-', '1.', '.5', '0.000000', '-0.0000012345'),
);
const TEXTS = fc.oneof(
  fc.stringMatching(/^[ -~]{0,12}$/).map((text) => JSON.stringify(text)),
  fc.constantFrom('"Zürich 😀"', '"a\\"b"', '"\\u0041"', '"\\ud800"', '"\u007f"', '"12"', '"1.50"', '" 7 "'),
  fc.constantFrom('"\\x"', '"a\nb"', `"${'m'.repeat(256)}"`, `"${'m'.repeat(257)}"`, '"\\u12"'),
);
const OTHERS = fc.constantFrom(
  'true',
  'false',
  'null',
  'nul',
  '[]',
  '{}',
  '[1,{"a":[null,"x\\n"]}]',
  '{"a":}',
  '[1,]',
);
const PLAIN = fc.constantFrom('1', '20', '"a"', '"large"', 'true', '12345678901234567890.5');
const VALUES = fc.oneof({ weight: 9, arbitrary: PLAIN }, NUMBERS, TEXTS, OTHERS);
const DATA = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('tokens', 'model', 'ok', 'a b', 'user', '', '__proto__'), VALUES), {
      maxLength: 6,
    }),
    fc.option(fc.oneof({ weight: 2, arbitrary: fc.constant('7') }, NUMBERS), { freq: 9 }),
    SPACE,
  )
  .map(([members, tokens, space]) =>
    objectOf(tokens === null ? members : [['tokens', tokens], ...members], space),
  );

const ATTRIBUTES: Record<string, fc.Arbitrary<string>> = {
  specversion: fc.constantFrom(...Array(30).fill('"1.0"'), '"0.3"', '1.0'),
  id: fc.oneof({ weight: 19, arbitrary: fc.stringMatching(/^"[a-z0-9-]{1,40}"$/) }, TEXTS),
  source: fc.constantFrom(...Array(20).fill('"/gw"'), '"s:1"', '""', `"${'s'.repeat(240)}"`, '"ü"'),
  type: fc.constantFrom(...Array(30).fill('"prompt"'), '"call"', '"call"', '"deep"', '"large"', '"unheard"'),
  subject: fc.oneof({ weight: 19, arbitrary: fc.constantFrom('"acme"', '"cus_1"') }, TEXTS),
};
const FURTHER: Record<string, fc.Arbitrary<string>> = {
  time: fc.constantFrom(
    ...Array(30).fill('"2026-11-01T00:00:00.000Z"'),
    ...['"2026-11-01T01:00:00+01:00"', '"2026-02-30T00:00:00Z"', 'null', '"now"', '7'],
  ),
  data: fc.oneof({ weight: 19, arbitrary: DATA }, OTHERS),
  datacontenttype: fc.constantFrom('"application/json"', '"x"'),
  extension: VALUES,
  data_base64: fc.constantFrom('null', '"AA=="'),
};
const EVENT = fc
  .record({
    all: fc.record(ATTRIBUTES),
    some: fc.record({ time: FURTHER.time, data: FURTHER.data } as Record<string, fc.Arbitrary<string>>),
    rare: fc.record(FURTHER, { requiredKeys: [] }),
    isOdd: fc.nat(8).map((one) => one === 0),
    space: SPACE,
  })
  .chain(({ all, some, rare, isOdd, space }) => {
    const members = Object.entries({ ...all, ...some, ...(isOdd ? rare : {}) }) as Array<[string, string]>;
    return shuffled(members).map((each) => objectOf(each, space));
  });
const BODY = fc
  .tuple(fc.array(EVENT, { minLength: 1, maxLength: 2 }), SPACE, fc.boolean())
  .map(([events, space, isOne]) => {
    const [first = '[]'] = events;
    return isOne && events.length === 1
      ? first
      : `${space}[${space}${events.join(`${space},${space}`)}${space}]${space}`;
  });

/** Red when either way reads a body differently: an event would count differently by how it is written. */
test('both ways write the same items, of whatever both take', () => {
  let taken = 0;
  const compare = (text: string) => {
    if (isTaken(Buffer.from(text))) taken++;
  };
  fc.assert(fc.property(BODY, compare), { numRuns: RUNS });
  expect(taken).toBeGreaterThan(RUNS / 6);
});

const SOUND = Array.from({ length: 3 }, (_, at) => ({
  ...{ type: 'prompt', subject: 'acme', id: `id-${at}`, source: '/gw', specversion: '1.0' },
  ...{ time: '2026-11-01T00:00:00.000Z', data: { tokens: 12.5, more: [{ a: 1 }], model: 'm' } },
}));

/** Red when it takes what is no JSON, or is cut off. */
test('a byte that is another, is missing or comes in addition changes both ways alike', () => {
  const body = Buffer.from(JSON.stringify(SOUND));
  expect(isTaken(body)).toBe(true);
  const bytes = Buffer.from('"\\{}[]:,0 9.eé\u0000\n-u');
  for (let at = 0; at <= body.length; at++) {
    const [front, back] = [body.subarray(0, at), body.subarray(at + 1)];
    isTaken(front);
    isTaken(Buffer.concat([front, back]));
    for (const byte of bytes) {
      isTaken(Buffer.concat([front, Buffer.of(byte), back]));
      isTaken(Buffer.concat([front, Buffer.of(byte), body.subarray(at)]));
    }
  }
});

test('what the SDKs of OpenMeter send is of the common form', () => {
  const dumped = JSON.stringify(SOUND).replaceAll('":', '": ').replaceAll(',"', ', "');
  const [one] = SOUND;
  expect([dumped, JSON.stringify(one)].map((text) => isTaken(Buffer.from(text)))).toEqual([true, true]);
  const forms: EventsForm[] = ['batch', 'structured', 'either', 'binary', 'logs'];
  const of = (text: string) => forms.map((form) => isTaken(Buffer.from(text), form));
  expect(of(dumped)).toEqual([true, false, true, false, false]);
  expect(of(JSON.stringify(one))).toEqual([false, true, true, false, false]);
});

test('an event that its meter filters is left to the other way', () => {
  const [one] = SOUND;
  const ofModel = (model: string) => Buffer.from(JSON.stringify({ ...one, type: 'large', data: { model } }));
  expect(['x', 'y'].map((model) => isTaken(ofModel(model)))).toEqual([false, false]);
});

test('many events become batches of 500; more than a request may hold are left to the other way', () => {
  const bodyOf = (count: number) =>
    Buffer.from(JSON.stringify(Array(count).fill({ ...SOUND[0], data: undefined, type: 'call' })));
  const written = write('batch', bodyOf(1_200), LISTENERS);
  expect(written?.bodies.map((body) => JSON.parse(String(body)).events.length)).toEqual([500, 500, 200]);
  expect(isTaken(bodyOf(1_200))).toBe(true);
  const nested = [{ ...SOUND[0], data: { tokens: 1, more: Array(100_001).fill(0) } }];
  for (const body of [bodyOf(10_001), Buffer.from(JSON.stringify(nested))]) expect(isTaken(body)).toBe(false);
  const levels = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`;
  const deep = (count: number) => JSON.stringify(SOUND).replace('12.5', `12.5,"x":${levels(count)}`);
  expect([deep(20), deep(100_000)].map((text) => isTaken(Buffer.from(text)))).toEqual([true, false]);
});
