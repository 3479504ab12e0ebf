import fc from 'fast-check';
import { expect, it } from 'vitest';
import { base32 } from '../../../schemas/primitives/ids.ts';
import { eventLine, eventLines, type TestEvent } from '../../../tests/support/event-line.ts';
import { asRows, createEventColumns } from './event-columns.ts';
import { plainColumns } from './plain-columns.ts';
import { fewLines, randomLines } from './random-lines-under-test.ts';
import { compareWriters, framesOf } from './same-bytes-under-test.ts';
import { openWasmColumns } from './wasm-columns.ts';

const take = (bytes: number) => Buffer.alloc(bytes);

// Red when one of them does not sort, or sorts otherwise.
it('both writers make the same bytes of lines that both read', async () => {
  expect(await compareWriters('rows', 200)).toBeGreaterThan(100);
});

it('what the plain writer does not read the WebAssembly does not read', async () => {
  expect(await compareWriters('damaged rows', 600)).toBeGreaterThan(30);
});

// Red when a range has other rows under its token, once it is read from frames of another version.
it('frames with short lines have the bytes of their rows, and are read where those are', async () => {
  expect(await compareWriters('frames', 200)).toBeGreaterThan(100);
  expect(await compareWriters('damaged frames', 600)).toBeGreaterThan(15);
  const [rows = take(0)] = fc.sample(randomLines, 1);
  const more = Buffer.concat(Array.from({ length: 20 }, () => rows));
  expect(asRows({ frames: framesOf(more) }).equals(more)).toBe(true);
});

// Red, in that it never ends or traps, when the lengths in it are trusted.
it('a frame that was overwritten in memory is not read by the WebAssembly', async () => {
  const wasm = openWasmColumns();
  const lengths = fc.constantFrom(8, 16, 20, 24, 56);
  const word = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
  await fc.assert(
    fc.asyncProperty(fewLines, fc.nat(), lengths, word, async (rows, nth, place, word) => {
      const frames = framesOf(rows, 1);
      const bytes = frames[nth % frames.length]?.bytes;
      if (bytes?.readUInt32LE(place) === word) return;
      bytes?.writeUInt32LE(word, place);
      expect(await wasm({ frames }, take)).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});

/** With the ids of the ingest tier. */
function events(count: number, more: (at: number) => Partial<TestEvent> = () => ({})): TestEvent[] {
  return Array.from({ length: count }, (_, at) => {
    const id = Buffer.alloc(16, at);
    id.writeUInt32LE(at, 0);
    return { id: `use_${base32(id)}`, ...more(at) };
  });
}

it('blocks of any size follow one another in one memory', async () => {
  const wasm = openWasmColumns();
  const names = (at: number) => ({ meterKey: `meter ${at % 300}`, customerId: `cus_${at}` });
  const many = eventLines(events(20_000, names));
  const rows = [eventLines(events(3)), many, eventLines(events(2)), many];
  const frames = [9_000, 300].map((eventsMax) => ({ frames: framesOf(many, eventsMax) }));
  for (const lines of [...rows, ...frames]) {
    const block = (await wasm(lines, take))?.block;
    const plain = plainColumns(asRows(lines));
    expect(block?.rows).toBe(plain?.rows);
    expect(block?.bytes.equals(plain?.bytes ?? Buffer.alloc(0))).toBe(true);
  }
});

it('escapes, tags and values with all their digits are read by the WebAssembly too', async () => {
  const properties = { text: 'a"b\\c/\n\u0001', number: '\0n12.5', yes: '\0btrue', 'nä"me': '☃😀' };
  const values = { value: '-123456789012345.000000000001', uniqueValue: '="' };
  const lines = eventLines(events(3, () => ({ properties, ...values })));
  const made = await openWasmColumns()(lines, take);
  expect(made?.block?.bytes.equals(plainColumns(lines)?.bytes ?? Buffer.alloc(0))).toBe(true);
});

it('two blocks at once do not disturb each other', async () => {
  const columns = createEventColumns();
  const given = [eventLines(events(20_000)), eventLines(events(30_000)), eventLines(events(10))];
  const made = await Promise.all(given.map((lines) => columns(lines, take)));
  expect(made.map((one) => one?.block.rows)).toEqual([20_000, 30_000, 10]);
  made.forEach((one, at) => {
    expect(one?.block.bytes.equals(plainColumns(given[at] ?? take(0))?.bytes ?? take(0))).toBe(true);
  });
});

it.each([
  ['half of a surrogate pair', eventLine({ id: 'use_a' }).replace('use_a', '\\ud800')],
  ['an exponent', eventLine({ id: 'use_a', value: '1e3' })],
  ['a space', eventLine({ id: 'use_a' }).replace(',', ', ')],
  ['13 digits behind the point', eventLine({ id: 'use_a', value: '0.1234567890123' })],
  ['a fingerprint beyond 64 bits', eventLine({ id: 'use_a' }).replace('709551615', '709551616')],
  ['no line feed', eventLine({ id: 'use_a' }).trimEnd()],
])('lines of which one has %s are left to ClickHouse', async (_, line) => {
  const lines = Buffer.concat([eventLines(events(2)), Buffer.from(line)]);
  expect(await createEventColumns()(lines, take)).toBeUndefined();
});
