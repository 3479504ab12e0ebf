import { pino } from 'pino';
import { expect, it } from 'vitest';
import { exitCodeOf } from './exit-code.ts';
import { checkOpenFilesLimit } from './open-files-limit.ts';

const lines: string[] = [];
const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });

// Red when nothing is looked at: a start then ends in the middle with EMFILE and a stack.
it('too low a limit of open files is rejected before anything is opened, with exit 2', () => {
  let rejection: unknown;
  try {
    checkOpenFilesLimit(10_000, log, 256);
  } catch (error) {
    rejection = error;
  }
  expect(rejection).toMatchObject({
    message: expect.stringMatching(/^A process may open 256 files, [^\n]+\.$/),
  });
  expect(exitCodeOf(rejection)).toBe(2);
});

it('a limit below the allowed connections is logged, and one above it is not', () => {
  checkOpenFilesLimit(10_000, log, 1_024);
  expect(lines.splice(0).join()).toContain('"openFilesMax":1024,"connectionsMax":10000');
  checkOpenFilesLimit(10_000, log, 20_000);
  checkOpenFilesLimit(10_000, log, Number.POSITIVE_INFINITY);
  expect(lines).toEqual([]);
});
