import { expect, it } from 'vitest';
import { base32 } from '../../../schemas/primitives/ids.ts';
import { arrivalText } from '../../../schemas/stored/event-row.ts';
import { eventLines, TEST_NOW_MS, type TestEvent } from '../../../tests/support/event-line.ts';
import { compareRollups, expectSameRollups } from './same-rollups-under-test.ts';
import { openWasmColumns } from './wasm-columns.ts';

// Red when one of them sums, groups, sorts or leaves out otherwise.
it('the WebAssembly makes the same hours and rows by property as the plain writers', async () => {
  expect(await compareRollups(100)).toBeGreaterThan(80);
});

function events(count: number, more: (at: number) => Partial<TestEvent>): TestEvent[] {
  return Array.from({ length: count }, (_, at) => {
    const id = Buffer.alloc(16, 1);
    id.writeUInt32LE(Math.imul(at, 0x9e3779b1) >>> 0, 0);
    return { id: `use_${base32(id)}`, ...more(at) };
  });
}

const few = events(3, () => ({ properties: { region: 'eu' } }));

/** More names in an hour than are looked at, texts for wider indexes, and counted ones. */
const many = [
  ...events(1_500, (at) => ({
    customerId: `cus_${at % 70}`,
    meterKey: `meter ${at % 280}`,
    uniqueValue: ['', `=${at % 50}`, arrivalText(at)][at % 3] ?? '',
    value: `${(at % 9) - 4}.${'9'.repeat(12)}`,
    occurredAtMs: TEST_NOW_MS + (at % 5) * 1_000_000,
    properties: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, `${name} ${at}`])),
  })),
  ...events(2, (at) => ({
    properties: Object.fromEntries(Array.from({ length: 1_100 }, (_, name) => [`${name + at * 500}`, 'x'])),
  })),
];

/** Texts that come again when the places of the first ones have been moved. */
const again = events(1_200, (at) => ({
  uniqueValue: `=${at % 300}`,
  properties: { region: `region ${at % 600}`, [`name ${at % 40}`]: 'x' },
}));

it('rollups of blocks of any size follow one another in one memory', async () => {
  const wasm = openWasmColumns();
  for (const block of [few, many, few, again]) {
    expect(await expectSameRollups(wasm, eventLines(block), { closed: [3, 40, 41] })).toBe(true);
  }
});

it.each([
  ['that parts a character', { properties: { name: '\0ü' } }],
  ['before 1970', { occurredAtMs: -1 }],
])('rollups of a block with something %s are left to the plain writers', async (_, event) => {
  const lines = eventLines([...few, ...events(1, () => event)]);
  const made = await openWasmColumns()(lines, (bytes) => Buffer.alloc(bytes), { closed: new Set() });
  expect(made).toEqual({ block: expect.objectContaining({ rows: 4 }) });
});
