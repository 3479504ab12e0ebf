import { expect, it } from 'vitest';
import { runPython } from './python3.ts';

const TIMEOUT_MS = 100_000;

/** Its own tests, against a server that misbehaves: python-sdk.sys.test.ts has it against a real one. */
it('the Python SDK keeps what its own tests say', () => {
  const ran = runPython(
    ['-X', 'dev', '-W', 'error', '-m', 'unittest', 'discover', '-t', '.', '-s', 'tests'],
    TIMEOUT_MS,
  );
  expect({ status: ran.status, error: ran.error }, ran.stderr).toEqual({ status: 0, error: undefined });
  expect(ran.stderr).toMatch(/^Ran \d{2,} tests in .*\n\nOK\n$/m);
});
