import { expect, it } from 'vitest';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { runPython } from './python3.ts';

const TIMEOUT_MS = 90_000;

const instance = await instanceOfThisFile();

/** The Python file has what is compared, in titles of its own; the rest of it is in the whole test. */
it('the Python SDK decides as the server does, and counts its own bursts', { timeout: TIMEOUT_MS }, () => {
  const environment = { METERGATE_URL: instance.origin, METERGATE_KEY: instance.keys().live.secret };
  const args = ['-m', 'unittest', 'tests.server.check_local_decisions.LocalDecisions'];
  const { status, stderr } = runPython({ args, timeoutMs: TIMEOUT_MS, environment });
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/^Ran 3 tests in .*\n\nOK\n$/m);
});
