import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { testFolder } from '../support/test-folder.ts';
import { type CodeBlock, codeBlocks, readDocuments } from './read-documents.ts';

/*
 * Every block of the documents that is marked as run, as a reader would paste it, against one real Metergate.
 *
 * Seen red with: a misspelt member in a sample; a sample whose customer another page has made.
 */
const QUICKSTART = 'docs/use/quickstart.md';

/** What has to be in the output of each page, in this order. The endpoint of the last is never sent to. */
const PAGES: ReadonlyArray<readonly [path: string, expected: RegExp]> = [
  ['README.md', /"duplicate":1[\s\S]*"current":3\.5[\s\S]*"value":"eu","total":3,/],
  [QUICKSTART, /"duplicate":1[\s\S]*"current":3\.5[\s\S]*"allowed":true/],
  ['docs/use/cloud-events.md', /"summary":\{"total":1,"created":1/],
  ['docs/use/sending-events.md', /"status":"recorded"[\s\S]*"created":2[\s\S]*\[\]\s+\[\]/],
  ['docs/use/consistency.md', /"current":1,[\s\S]*"asOf"/],
  ['docs/use/entitlements.md', /"allowed":true[\s\S]*"granted_by_override"/],
  ['docs/use/credits.md', /"amount":25[\s\S]*"balance"/],
  ['docs/use/corrections.md', /"current":800,/],
  ['docs/use/usage.md', /"groups":1,"data":[\s\S]*"breakdown":[\s\S]*"data":[\s\S]*,eu,3,1,false/],
  ['docs/use/webhooks.md', /"secret":"whsec_/],
];

const documents = readDocuments();
const runOf = (path: string): CodeBlock[] =>
  documents
    .filter((one) => one.path === path)
    .flatMap(codeBlocks)
    .filter(({ isRun }) => isRun);

const instance = await instanceOfThisFile();

it('every page with samples that are run is here', () => {
  const marked = documents.filter((one) => codeBlocks(one).some(({ isRun }) => isRun));
  expect(marked.map(({ path }) => path).sort()).toEqual(PAGES.map(([path]) => path).sort());
});

it.each(PAGES)('the samples of %s work as they are', async (path, expected) => {
  const blocks = runOf(path);
  // Other pages take the key and the address from the quickstart, and say so.
  const hasKey = blocks.some(({ code }) => code.startsWith('KEY='));
  const setup = hasKey ? [] : runOf(QUICKSTART).slice(0, 1);
  const script = [...setup, ...blocks].map(asShell).join('\n');
  const { output, exitCode } = await run(script.replaceAll('http://127.0.0.1:8080', instance.origin));
  expect(output).not.toContain('"error":{');
  expect(output).toMatch(expected);
  expect(exitCode).toBe(0);
});

/** Red when the body is read where a retry is not: the caller of the sample would lose its events. */
it.each(['js', 'python'])('the client in %s sends again when the response breaks off', async (language) => {
  const { origin, received } = await breaksOffOnce();
  const [sample] = runOf('docs/use/sending-events.md').filter((one) => one.language === language);
  if (!sample) throw new Error(`there is no sample in ${language}`);
  const { output, exitCode } = await run(`API=${origin} KEY=sk_test_a\n${asShell(sample)}`);
  expect({ output, exitCode }).toEqual({ output: '[]\n', exitCode: 0 });
  const [first, second, ...more] = received;
  expect(second).toBe(first);
  expect(more).toEqual([]);
});

/** Its first response ends in the middle of the body; the others say that all was created. */
async function breaksOffOnce() {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    received.push(await text(request));
    const body = JSON.stringify({ results: [{ index: 0, status: 'created' }] });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    if (received.length > 1) response.end(body);
    else response.write(body.slice(0, 10), () => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, received };
}

const INTERPRETERS: Record<string, string> = { js: 'node --input-type=module', python: 'python3 -' };

function asShell({ language, code }: CodeBlock): string {
  if (language === 'sh') return code;
  return `API="$API" KEY="$KEY" ${INTERPRETERS[language]} <<'END_OF_SAMPLE'\n${code}END_OF_SAMPLE\n`;
}

/** In a folder that has the instance's data where the samples look for it. */
async function run(script: string): Promise<{ output: string; exitCode: number | null }> {
  const folder = testFolder();
  symlinkSync(instance.dataDir, join(folder, 'data'));
  const child = spawn('bash', ['-eu', '-o', 'pipefail'], { cwd: folder });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  child.stdin.end(script);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { output, exitCode };
}
