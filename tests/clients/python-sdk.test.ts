import { expect, it } from 'vitest';
import { runPython } from './python3.ts';

/** Its own tests: in python-sdk.sys.test.ts it has a real server. */
it('the Python SDK loses nothing to servers, disks and processes that fail', () => {
  const args = ['-m', 'unittest', 'discover', '-t', '.', '-s', 'tests'];
  const { status, error, stderr } = runPython({ args, timeoutMs: 100_000 });
  expect({ status, error }, stderr).toEqual({ status: 0, error: undefined });
  expect(stderr).toMatch(/^Ran \d{2,} tests in .*\n\nOK\n$/m);
});
