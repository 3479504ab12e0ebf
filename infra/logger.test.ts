import { closeSync, openSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createLogger } from './logger.ts';

// Red without a listener: the error is thrown into whoever logs, and ends processes that were well.
it('a log on a full disk costs its lines and nothing else', () => {
  const dest = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(dest));
  const log = createLogger({ role: 'test', level: 'info', dest });
  expect(() => {
    for (let line = 0; line < 100; line++) log.error({ text: 'x'.repeat(100_000) }, 'not written');
  }).not.toThrow();
});
