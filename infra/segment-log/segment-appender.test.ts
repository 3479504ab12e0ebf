import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { testLog } from './log-under-test.ts';
import type { OpenFile } from './segment-appender.ts';

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
  expect(opened).toHaveLength(2);
  for (const flags of opened) expect(flags & constants.O_DSYNC).toBe(constants.O_DSYNC);
});
