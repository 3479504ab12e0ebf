import { expect, test } from 'vitest';
import { isAligned } from '../../infra/platform/aligned-memory.ts';
import type { CommitPart } from '../../infra/ports/engine.ts';
import { decodeFrame, NUMBER_BYTES, type TouchedSpan } from '../../schemas/stored/frame.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { type Batch, createBatches } from './batches.ts';

const MIB = 1024 * 1024;
const HEAD = { logId: new Uint8Array(16), committedAtMs: 1 };

interface Request {
  part: CommitPart;
}

/** One event, whose line begins with its name and has so many bytes. */
function requestOf(name: string, lineBytes = 10, touched: TouchedSpan[] = []): Request {
  const claim = { created: 1, waits: false };
  const [records, numbers] = [new Uint8Array(RECORD_BYTES), new Uint16Array(1)];
  const lines = Buffer.from(name.padEnd(lineBytes));
  return { part: { claim, eventCount: 1, records, lines, numbers, touched } };
}

function written(batch: Batch<Request> | undefined): string[] {
  const frame = decodeFrame(Buffer.concat(batch?.frame.seal(HEAD) ?? []));
  return frame.lines.toString().trim().split(/ +/);
}

/** All batches, each given back before the one after the next is taken. */
function* taken(batches: ReturnType<typeof createBatches<Request>>): Generator<string[]> {
  for (let batch = batches.take(); batch; batch = batches.take()) {
    yield written(batch);
    batches.giveBack(batch);
  }
}

// Red when a part is kept as it was given: the engine's next request overwrites it.
test('a part is read in its call only, whether it fits into the frame or waits for the next', () => {
  const batches = createBatches<Request>();
  for (const name of ['a', 'b', 'c', 'd']) {
    const request = requestOf(name, name === 'd' ? 10 : 3 * MIB);
    batches.add(request);
    for (const bytes of [request.part.records, request.part.lines]) bytes.fill(0);
  }
  expect([...taken(batches)]).toEqual([['a'], ['b'], ['c', 'd']]);
});

// Red when the bound is exceeded by the last part, or a frame ends before it is reached.
test('a frame takes what fills it to the last byte, and what exceeds it alone', () => {
  const batches = createBatches<Request>();
  const half = 2 * MIB - RECORD_BYTES - NUMBER_BYTES;
  for (const [at, bytes] of [half, half, half, half + 1, 5 * MIB, 10, 10].entries()) {
    batches.add(requestOf(String(at), bytes));
  }
  expect([...taken(batches)]).toEqual([['0', '1'], ['2'], ['3'], ['4'], ['5', '6']]);
});

// Red when names have no bound: each event may have its own, and no reader takes a frame of more than 32 MB.
test('a frame that waits for a slow disk stays readable, however long the names of its events', () => {
  const batches = createBatches<Request>();
  for (let at = 0; at < 700; at++) {
    const pair = `"e","c","${'あ'.repeat(20_000)}${at}"`;
    batches.add(requestOf('a', 10, [{ pair, occurredFromMs: 5, occurredToMs: 5 }]));
  }
  const lines = [...taken(batches)].map((names) => names.length);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.reduce((sum, count) => sum + count)).toBe(700);
});

// Red when a frame is made of pieces: the log would copy it before it can write it.
test('a frame is one piece of aligned memory, also with thousands of names', () => {
  const batches = createBatches<Request>();
  const names = Array.from({ length: 4_000 }, (_, at) => `"e","${'c'.repeat(40)}${at}","m"`);
  batches.add(
    requestOf(
      'a',
      10,
      names.map((pair) => ({ pair, occurredFromMs: 5, occurredToMs: 5 })),
    ),
  );
  const pieces = batches.take()?.frame.seal(HEAD) ?? [];
  expect(pieces.map(isAligned)).toEqual([true]);
  expect(decodeFrame(Buffer.concat(pieces)).touched).toHaveLength(names.length);
});

// Red when a request that waits is forgotten, or a later frame begins with what was taken here.
test('all requests that were not taken are returned once, those that wait too', () => {
  const batches = createBatches<Request>();
  const requests = ['a', 'b', 'c'].map((name) => requestOf(name, 3 * MIB));
  for (const request of requests) batches.add(request);
  const others = batches.takeOthers().map(({ part }) => part.lines.subarray(0, 1).toString());
  expect(others).toEqual(['a', 'b', 'c']);
  batches.add(requestOf('d'));
  expect([...taken(batches)]).toEqual([['d']]);
});

// Red when the numbers of a request are taken as they are: they are of its own names.
test('each event keeps its customer and meter, whatever requests share its frame', () => {
  const batches = createBatches<Request>();
  const spanOf = (pair: string, ms: number) => ({ pair, occurredFromMs: ms, occurredToMs: ms });
  const two = (a: TouchedSpan, b: TouchedSpan, numbers: number[]) => {
    const { part } = requestOf(' ', 1, [a, b]);
    const [records, lines] = [new Uint8Array(numbers.length * RECORD_BYTES), Buffer.alloc(1)];
    const more = { eventCount: numbers.length, records, lines, numbers: Uint16Array.from(numbers) };
    return { part: { ...part, ...more } };
  };
  batches.add(two(spanOf('"e","a","m"', 5), spanOf('"e","b","m"', 6), [0, 1, 1]));
  batches.add(two(spanOf('"e","b","m"', 4), spanOf('"e","c","m"', 9), [1, 0]));
  batches.add(requestOf('x', 10, [spanOf('"e","c","m"', 7)]));
  const frame = decodeFrame(Buffer.concat(batches.take()?.frame.seal(HEAD) ?? []));
  const numbers = Array.from({ length: 6 }, (_, at) => frame.numbers?.readUInt16LE(at * NUMBER_BYTES) ?? -1);
  const customers = numbers.map((number) => frame.touched[number]?.customerId);
  expect(customers).toEqual(['a', 'b', 'b', 'c', 'b', 'c']);
  expect(frame.touched.map(({ occurredFromMs, occurredToMs }) => [occurredFromMs, occurredToMs])).toEqual([
    [5, 5],
    [4, 6],
    [7, 9],
  ]);
});
