import { expect, it } from 'vitest';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { runPython } from './python3.ts';

const TIMEOUT_MS = 90_000;

const instance = await instanceOfThisFile();

it('four Python processes overrun a limit by no more than they use in two seconds', {
  timeout: TIMEOUT_MS,
}, () => {
  const environment = { METERGATE_URL: instance.origin, METERGATE_KEY: instance.keys().live.secret };
  const args = ['-m', 'unittest', 'tests.server.check_many_processes'];
  const { status, stderr } = runPython({ args, timeoutMs: TIMEOUT_MS, environment });
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/^overrun by -?\d+ of 1,000/m);
});
