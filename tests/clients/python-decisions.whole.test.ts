import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { endChild } from '../support/child-end.ts';
import { inTime } from '../support/in-time.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { runPython, startPython } from './python3.ts';

const TIMEOUT_MS = 90_000;

const instance = await instanceOfThisFile();
const environment = { METERGATE_URL: instance.origin, METERGATE_KEY: instance.keys().live.secret };

it('four Python processes overrun a limit for no longer than the README says', {
  timeout: TIMEOUT_MS,
}, () => {
  const args = ['-m', 'unittest', 'tests.server.check_many_processes'];
  const { status, stderr } = runPython({ args, timeoutMs: TIMEOUT_MS, environment });
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/^overrun by \d+ of 1,000/m);
});

it('the Python SDK sees a change within two seconds, and decides by policy once the server is killed', {
  timeout: TIMEOUT_MS,
}, async () => {
  // In test mode: what the other test made is not there.
  const ofTestMode = { ...environment, METERGATE_KEY: instance.keys().test.secret };
  const args = ['-m', 'unittest', '-v', 'tests.server.check_local_decisions.AtLength'];
  const child = startPython({ args, environment: ofTestMode });
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
  expect(output).toMatch(/^Ran 2 tests in .*\n\nOK\n$/m);
});

/** Without anything that would start it again. */
async function killed(): Promise<void> {
  const dataPlane = instance.pid('data plane');
  await instance.kill('supervisor');
  process.kill(dataPlane, 'SIGKILL');
}
