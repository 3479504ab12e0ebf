import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventLogReader, EventLogWriter, LogFrame, LogRetention } from '../event-log.ts';
import { appended, type EventLogHarness, openBoth, testFrame } from './event-log.ts';

type Harness = EventLogHarness<EventLogWriter & LogRetention>;

const FRAMES = 40;
const LATER_MS = 86_400_000;

/** What every log does of which the oldest part is given up. */
export function logRetentionConformance(name: string, createHarness: () => Promise<Harness>): void {
  describe(`retention of ${name}`, () => {
    // Mutants it catches: a stretch given up that ends behind the position; a hole in the middle.
    it('gives up nothing behind the position, and leaves everything behind what is deleted', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(FRAMES), { maxLength: 4 }), async (cuts) => {
          const { writer, reader, frames, end, close } = await filled(await createHarness());
          let given = 0;
          for (const cut of cuts) {
            const before = frames[cut]?.position ?? end;
            await writer.trim(before);
            given = Math.max(given, before);
            const start = await reader.start(0);
            expect(start).toBeLessThanOrEqual(given);
            expect(writer.extent()).toEqual({ start, end });
            await expectHeld(reader, frames, start);
          }
          await close();
        }),
        { numRuns: 6 },
      );
    });

    it('gives up nothing that was written from that time on', async () => {
      const { writer, reader, end, close } = await filled(await createHarness());
      expect(await writer.writtenBefore(Date.now() - LATER_MS)).toBe(0);
      expect(await writer.writtenBefore(Date.now() + LATER_MS)).toBeLessThanOrEqual(end);
      await writer.trim(await writer.writtenBefore(Date.now() - LATER_MS));
      expect(await reader.start(0)).toBe(0);
      await close();
    });

    it('lets the log continue where it was, also after it was opened again', async () => {
      const harness = await createHarness();
      const before = await filled(harness);
      await before.writer.trim(before.end);
      const start = await before.reader.start(0);
      await before.close();
      const { writer, reader } = await openBoth(harness);
      expect(writer.extent()).toEqual({ start, end: before.end });
      expect(await reader.start(0)).toBe(start);
      const next = await appended(writer, testFrame(writer.logId, 100));
      expect(next.position).toBe(before.end);
      expect((await reader.read(0, next.position, 1e6)).map(({ position }) => position)).toEqual([
        before.end,
      ]);
    });
  });
}

/** A log of frames of different lengths, as they are read. */
async function filled(harness: Harness) {
  const writer = await harness.openWriter();
  const reader = await harness.openReader();
  for (let count = 0; count < FRAMES; count++) {
    await appended(writer, testFrame(writer.logId, (count * 7919) % 3_000));
  }
  const close = async () => {
    await reader.close();
    await writer.close();
  };
  return { writer, reader, frames: await reader.read(0, 0, 1e9), end: writer.extent().end, close };
}

async function expectHeld(reader: EventLogReader, frames: LogFrame[], start: number): Promise<void> {
  const held = frames.filter(({ position }) => position >= start);
  const read = await reader.read(0, start, 1e9);
  const [found, expected] = [read, held].map((all) => Buffer.concat(all.map(({ bytes }) => bytes)));
  // As `toEqual` says of bytes, which it compares one by one: 1.3 s of a processor for each run.
  expect(found?.equals(expected as Buffer)).toBe(true);
  const gone = frames.find(({ position }) => position < start);
  if (gone) await expect(reader.read(0, gone.position, 1)).rejects.toMatchObject({ code: 'log_trimmed' });
}
