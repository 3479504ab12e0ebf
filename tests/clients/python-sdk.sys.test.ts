import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { codeBlocks } from '../documents/read-documents.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { testFolder } from '../support/test-folder.ts';
import { runPython } from './python3.ts';

const TIMEOUT_MS = 60_000;
const README = 'sdk/python/README.md';

const instance = await instanceOfThisFile();
const environment = { METERGATE_URL: instance.origin, METERGATE_KEY: instance.keys().live.secret };

it('the Python SDK and a server agree', () => {
  const args = ['-m', 'unittest', 'tests.server.check_server'];
  const { status, stderr } = runPython({ args, timeoutMs: TIMEOUT_MS, environment });
  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/^Ran \d tests in .*\n\nOK\n$/m);
});

/** What has to be printed by the samples, in this order. */
const PRINTED = [
  'Flushed\\(sent=2, rejected=0, waiting=0\\)',
  'correct and send again: \\w{26} customer_not_found',
  'Stats\\(tracked=1, .*rejected=1, ',
  'feature_not_found server',
  '1001',
  '\\d+',
  '400',
];

it('the samples of its README work as they are', () => {
  const blocks = codeBlocks({ path: README, text: readFileSync(README, 'utf8') });
  const [samples = [], others = []] = ['python', 'py'].map((name) =>
    blocks.filter(({ language }) => language === name).map(({ code }) => code),
  );
  const secret = `whsec_${Buffer.alloc(24).toString('base64')}`;
  const input = [
    'import os',
    'URL, KEY = os.environ["METERGATE_URL"], os.environ["METERGATE_KEY"]',
    `SPOOL, SECRET = ${JSON.stringify(testFolder())}, ${JSON.stringify(secret)}`,
    ...samples,
    // The others need packages: tests/packages has what they show.
    `for sample in ${JSON.stringify(others)}: compile(sample, "README.md", "exec")`,
  ].join('\n');
  const { status, stdout, stderr } = runPython({ args: ['-'], timeoutMs: TIMEOUT_MS, environment, input });
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(new RegExp(PRINTED.join('[\\s\\S]*'), 'm'));
});
