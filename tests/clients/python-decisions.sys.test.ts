import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { endChild } from '../support/child-end.ts';
import { inTime } from '../support/in-time.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { startPython } from './python3.ts';

const TIMEOUT_MS = 90_000;

const instance = await instanceOfThisFile();

/** `sdk/python/tests/server/check_local_decisions.py` has what is compared, in titles of its own. */
it('the Python SDK decides as the server does, and without it by policy', {
  timeout: TIMEOUT_MS,
}, async () => {
  const environment = { METERGATE_URL: instance.origin, METERGATE_KEY: instance.keys().live.secret };
  const args = ['-m', 'unittest', '-v', 'tests.server.check_local_decisions'];
  const child = startPython({ args, environment });
  onTestFinished(async () => void (await endChild(child)));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  child.stdout?.on('data', (text: string) => {
    if (text.includes('kill')) void killed().then(() => child.stdin?.end('killed\n'));
  });
  await inTime(once(child, 'close'), TIMEOUT_MS, 'the end of the tests in Python');
  expect(child.exitCode, output).toBe(0);
  expect(output).toMatch(/^Ran \d tests in .*\n\nOK\n$/m);
});

/** Without anything that would start it again. */
async function killed(): Promise<void> {
  const dataPlane = instance.pid('data plane');
  await instance.kill('supervisor');
  process.kill(dataPlane, 'SIGKILL');
}
