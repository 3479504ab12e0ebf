import { constants, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { alignedMemory } from '../platform/aligned-memory.ts';
import { testLog } from './log-under-test.ts';
import { type OpenFile, openPastPageCache, writeDurableAt } from './segment-appender.ts';
import { BLOCK_BYTES, paddedTo } from './segment-file.ts';
import { FORMS, openFileIn } from './write-form-under-test.ts';

// Mutant it catches: O_DSYNC left out. killed-writer.test.ts shows the system call that follows.
it('every segment is opened so that a write returns when it is on the disk', async () => {
  const opened: number[] = [];
  const openFile: OpenFile = (path, flags, mode) => {
    opened.push(flags);
    return open(path, flags, mode);
  };
  const log = testLog();
  const made = await log.open({ openFile });
  await made.close();
  const found = await log.open({ openFile });
  await found.close();
  // Made; read, through the page cache; then written, past it.
  expect(opened.map((flags) => (flags & constants.O_DIRECT) !== 0)).toEqual([true, false, true]);
  for (const flags of opened) expect(flags & constants.O_DSYNC).toBe(constants.O_DSYNC);
});

describe('a file system that does not let writes pass the page cache', () => {
  const file = () => join(testFolder(), 'file');
  const flags = constants.O_RDWR | constants.O_CREAT;

  it('gets them through it, whether it rejects the opening or the first write', async () => {
    for (const rejects of ['opening', 'first write']) {
      const [path, opened] = [file(), [] as boolean[]];
      const isDirect = (given: number) => (given & constants.O_DIRECT) !== 0;
      const openWith = (given: number): Promise<FileHandle> => {
        opened.push(isDirect(given));
        if (rejects === 'opening' && isDirect(given)) throw rejection();
        return open(path, given | flags, 0o600);
      };
      const attempt = async (one: FileHandle): Promise<void> => {
        if (opened.length === 1) throw rejection();
        await one.writev([Buffer.from('x')], 0);
      };
      const made = await openPastPageCache(openWith, attempt);
      await made.close();
      expect(opened, rejects).toEqual([true, false]);
      expect(readFileSync(path, 'utf8')).toBe('x');
    }
  });

  it('is not taken for one when it is full', async () => {
    const full = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    const openWith = (given: number) => open(file(), given | flags, 0o600);
    await expect(openPastPageCache(openWith, full)).rejects.toMatchObject({ code: 'ENOSPC' });
  });
});

/**
 * Red when memory that is not aligned is written as it lies, a frame is cut where it exceeds the staging
 * memory, or the padding is left as it was.
 */
it.each(FORMS)('pieces of any length and place are written %s with their padding', async (form) => {
  const [staging, aligned] = [alignedMemory(2 * BLOCK_BYTES).subarray(0, 2 * BLOCK_BYTES), alignedMemory(1)];
  const lengths = fc.array(fc.nat(3 * BLOCK_BYTES), { maxLength: 4 });
  const places = fc.tuple(fc.constantFrom(0, 1, 512, BLOCK_BYTES), fc.nat(aligned.length));
  await fc.assert(
    fc.asyncProperty(lengths, places, fc.nat(3), async (ofPieces, [from, to], block) => {
      for (const pieces of [
        ofPieces.map((length) => Buffer.alloc(length, 'p')),
        [aligned.subarray(from, to)],
      ]) {
        staging.fill('s');
        aligned.fill('a');
        const bytes = Buffer.concat(pieces);
        const expected = Buffer.concat([Buffer.alloc(block * BLOCK_BYTES), bytes]);
        const path = join(testFolder(), 'file');
        const openWith = (flags: number) => openFileIn(form)(path, flags | constants.O_CREAT, 0o600);
        const file = await openPastPageCache(openWith, async () => undefined);
        await writeDurableAt(file, { pieces, at: block * BLOCK_BYTES, staging });
        await file.close();
        const length = bytes.length === 0 ? 0 : paddedTo(BLOCK_BYTES, expected.length);
        expect(readFileSync(path).equals(Buffer.concat([expected], length))).toBe(true);
      }
    }),
    { numRuns: 40 },
  );
});

function rejection(): Error {
  return Object.assign(new Error('the file system does not allow it'), { code: 'EINVAL' });
}
