import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeFrame } from '../../../schemas/stored/frame.ts';
import type {
  AppendOutcome,
  EventLogReader,
  EventLogWriter,
  LogFrame,
  PartitionOutcome,
} from '../event-log.ts';

/** Of a log of one's own, or of a partition. */
export type AnyWriter = EventLogWriter<AppendOutcome | PartitionOutcome>;

/** One log. Each call opens it again; a writer is closed before the next is opened. */
export interface EventLogHarness<Writer extends AnyWriter = AnyWriter> {
  openWriter(): Promise<Writer>;
  openReader(): Promise<EventLogReader>;
  /** Where frames take whole blocks of the log: a read counts those. */
  blockBytes?: number;
}

/** What every EventLog does. An adapter's test is one call of this. */
export function eventLogConformance(name: string, createHarness: () => Promise<EventLogHarness>): void {
  describe(`${name} as an EventLog`, () => {
    describe('a writer', () => writerTests(createHarness));
    describe('a reader', () => readerTests(createHarness));
  });
}

/** A frame with lines of this many bytes, as the group commit would give it: in pieces. */
export function testFrame(logId: Uint8Array, linesBytes: number): Uint8Array[] {
  return encodeFrame({
    logId,
    committedAtMs: 1_700_000_000_000,
    eventCount: 1,
    touched: [{ pair: '"ws_a:live","cus_a","m"', occurredFromMs: 1, occurredToMs: 2 }],
    records: [randomBytes(40)],
    numbers: new Uint16Array(1),
    recheck: [],
    lines: [Buffer.alloc(linesBytes, 'x')],
  });
}

type CreateHarness = () => Promise<EventLogHarness>;

function writerTests(createHarness: CreateHarness): void {
  it('returns the position of a frame, and the frame is read there byte for byte', async () => {
    const { writer, reader } = await openBoth(await createHarness());
    const first = testFrame(writer.logId, 100);
    const second = testFrame(writer.logId, 5);
    const one = await appended(writer, first);
    const two = await appended(writer, second);
    expect(two.position).toBe(one.end);
    const frames = await reader.read(0, one.position, 1e6);
    expect(frames.map(placeOf)).toEqual([
      { position: one.position, next: one.end },
      { position: two.position, next: two.end },
    ]);
    expect(frames.map(({ bytes }) => bytes)).toEqual([Buffer.concat(first), Buffer.concat(second)]);
  });

  it('has the same log id, the same frames and growing positions after it was reopened', async () => {
    const harness = await createHarness();
    const before = await harness.openWriter();
    const one = await appended(before, testFrame(before.logId, 100));
    await before.close();
    const { writer, reader } = await openBoth(harness);
    expect(writer.logId).toEqual(before.logId);
    expect(reader.logId).toEqual(before.logId);
    const two = await appended(writer, testFrame(writer.logId, 100));
    expect(two.position).toBe(one.end);
    expect((await reader.read(0, one.position, 1e6)).map(placeOf)).toEqual([one, two].map(span));
  });

  it('recognises another log by its id', async () => {
    const logs = [await openBoth(await createHarness()), await openBoth(await createHarness())];
    const [one, two] = logs.map(({ writer }) => Buffer.from(writer.logId).toString('hex'));
    expect(one).toMatch(/^[0-9a-f]{32}$/);
    expect(two).not.toBe(one);
  });

  it('takes a frame of thousands of pieces', async () => {
    const { writer, reader } = await openBoth(await createHarness());
    const whole = Buffer.concat(testFrame(writer.logId, 5_000));
    const pieces = Array.from(whole, (_, at) => whole.subarray(at, at + 1));
    const { position } = await appended(writer, [...pieces, Buffer.alloc(0)]);
    expect((await reader.read(0, position, 1))[0]?.bytes).toEqual(whole);
  });
}

function readerTests(createHarness: CreateHarness): void {
  // Mutants it catches: the end published before the write, or after the response.
  it('sees a frame as soon as its append has returned, and its end is the durable end', async () => {
    const { writer, reader } = await openBoth(await createHarness());
    for (const linesBytes of [10, 200_000, 0, 3_000]) {
      const { position, end } = await appended(writer, testFrame(writer.logId, linesBytes));
      expect(await reader.durableEnd(0)).toBe(end);
      expect((await reader.durableEnds())[0]).toBe(end);
      expect((await reader.read(0, position, 1)).map(placeOf)).toEqual([{ position, next: end }]);
    }
  });

  it('gives nothing at the durable end and beyond', async () => {
    const { writer, reader } = await openBoth(await createHarness());
    expect(await reader.read(0, await reader.durableEnd(0), 1e6)).toEqual([]);
    const { end } = await appended(writer, testFrame(writer.logId, 100));
    expect(await reader.read(0, end, 1e6)).toEqual([]);
    expect(await reader.read(0, end + 1_000, 1e6)).toEqual([]);
  });

  it('gives whole frames from any of them on, as many as fit and never fewer than one', async () => {
    const harness = await createHarness();
    const { writer, reader } = await openBoth(harness);
    const all: LogFrame[] = [];
    for (let count = 0; count < 60; count++) {
      const frame = testFrame(writer.logId, (count * 7919) % 3_000);
      const { position, end } = await appended(writer, frame);
      all.push({ position, next: end, bytes: Buffer.concat(frame) });
    }
    const windows = fc.tuple(fc.nat(all.length - 1), fc.integer({ min: 1, max: 40_000 }));
    await fc.assert(
      fc.asyncProperty(windows, async ([first, bytesMax]) => {
        const frames = await reader.read(0, all[first]?.position ?? 0, bytesMax);
        const expected = all.slice(first, first + fitting(all.slice(first), bytesMax, harness.blockBytes));
        expect(frames.map(inShort)).toEqual(expected.map(inShort));
      }),
      { numRuns: 100 },
    );
  });

  // Red when a reader keeps memory of its own for the next read, or remembers what it was lent.
  it('gives frames that no other read changes', async () => {
    const { writer, reader } = await openBoth(await createHarness());
    const { position } = await appended(writer, testFrame(writer.logId, 3_000));
    for (let at = 1; at < 20; at++) await appended(writer, testFrame(writer.logId, at * 200));
    const own = await reader.read(0, position, 1e6);
    const before = own.map(inShort);
    const lent: Buffer[] = [];
    const take = (bytes: number) => {
      const part = Buffer.alloc(bytes, 1);
      lent.push(part);
      return part;
    };
    const inLent = await reader.read(0, position, 1e6, { take });
    expect(inLent.map(inShort)).toEqual(before);
    await reader.read(0, position, 1e6, { take: (bytes) => Buffer.alloc(bytes, 2) });
    await reader.read(0, position, 1e6);
    expect(inLent.map(inShort)).toEqual(before);
    for (const part of lent) part.fill(3);
    expect(own.map(inShort)).toEqual(before);
    expect((await reader.read(0, position, 1e6)).map(inShort)).toEqual(before);
  });
}

/** Both are closed when the test is over. */
export async function openBoth<Writer extends AnyWriter>(harness: EventLogHarness<Writer>) {
  const writer = await harness.openWriter();
  const reader = await harness.openReader();
  onTestFinished(async () => {
    await writer.close();
    await reader.close();
  });
  return { writer, reader };
}

export async function appended(writer: Pick<AnyWriter, 'append'>, frame: Uint8Array[]) {
  const outcome = await writer.append(frame);
  if (outcome.status !== 'durable') throw new Error(`The append ended with ${outcome.status}.`);
  return outcome;
}

function fitting(frames: LogFrame[], bytesMax: number, blockBytes = 1): number {
  let bytes = 0;
  const over = frames.findIndex((frame) => {
    bytes += Math.ceil(frame.bytes.length / blockBytes) * blockBytes;
    return bytes > bytesMax;
  });
  return over < 0 ? frames.length : Math.max(1, over);
}

function placeOf({ position, next }: LogFrame) {
  return { position, next };
}

/** Position, end and content: comparing buffers byte by byte takes seconds. */
function inShort({ position, next, bytes }: LogFrame): string {
  return `${position}-${next} ${crc32(bytes)}`;
}

function span({ position, end }: { position: number; end: number }) {
  return { position, next: end };
}
