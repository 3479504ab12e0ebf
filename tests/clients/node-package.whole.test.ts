import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../sdk/node/src/client/client.ts';
import { codeBlocks } from '../documents/read-documents.ts';
import { callDone, createApi } from '../support/api.ts';
import { endChild } from '../support/child-end.ts';
import { seenInTime } from '../support/in-time.ts';
import { instanceOfThisFile } from '../support/instance-of-this-file.ts';
import { startReady } from '../support/ready-process.ts';
import { folderOfThisFile } from '../support/test-folder.ts';

/*
 * The package as `npm pack` makes it, installed by npm in a folder of its own: its samples run against a real
 * Metergate, its types hold for a strict caller, and a bundle for workers has no module of Node.js.
 */
const README = 'sdk/node/README.md';
const instance = await instanceOfThisFile();
const project = folderOfThisFile();
const api = createApi({ origin: instance.origin, key: instance.keys().live.secret, connections: 1 });
await callDone(api, 'POST', '/customers', { name: 'Initech', email: 'a@b.example', externalId: 'initech' });
await api.close();
installPackage();

function installPackage(): void {
  run('npx', ['tsc', '-p', 'sdk/node'], '.');
  run('npm', ['pack', '--silent', '--pack-destination', project, './sdk/node'], '.');
  const [archive = ''] = readdirSync(project).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--offline', `./${archive}`], project);
}

function run(command: string, args: string[], cwd: string, env: Record<string, string> = {}): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env } });
}

function samples(): string[] {
  const text = readFileSync(README, 'utf8');
  return codeBlocks({ path: README, text }).flatMap(({ language, code }) =>
    language === 'js' ? [code] : [],
  );
}

it('has what its manifest says, and nothing else', () => {
  const folder = join(project, 'node_modules', 'metergate');
  expect(readdirSync(folder).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  const files = readdirSync(join(folder, 'dist'), { recursive: true }).map(String);
  expect(files.filter((name) => /test|\.ts$/.test(name) && !name.endsWith('.d.ts'))).toEqual([]);
  const { exports, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  expect(dependencies).toBeUndefined();
  for (const target of Object.values(exports as Record<string, { default?: string }>)) {
    if (target.default) readFileSync(join(folder, target.default));
  }
});

it('is read without this repository, and by CommonJS where Node.js can', () => {
  const folder = join(project, 'node_modules', 'metergate');
  const links = readFileSync(join(folder, 'README.md'), 'utf8').match(/\]\([^)]*\)/g) ?? [];
  expect(links.filter((link) => !/^\]\((https:|#)/.test(link))).toEqual([]);
  expect(readFileSync(join(folder, 'LICENSE'))).toEqual(readFileSync('LICENSE'));
  if (!(process.features as { require_module?: boolean }).require_module) return;
  writeFileSync(join(project, 'common.cjs'), "console.log(typeof require('metergate').createMeter);\n");
  expect(run(process.execPath, ['--no-warnings', 'common.cjs'], project)).toBe('function\n');
});

it('has samples that run', () => {
  const [first = '', ...others] = samples();
  expect(others.length).toBeGreaterThan(3);
  writeFileSync(join(project, 'samples.mjs'), [first, ...others].join('\n'));
  const env = { METERGATE_URL: instance.origin, METERGATE_KEY: instance.keys().live.secret };
  const output = run(process.execPath, ['samples.mjs'], project, env);
  expect(output).toBe('{ sent: 2, rejected: 0, waiting: 0 }\nfalse server\nfalse server undefined\n3\n');
});

const READY = /^metergate-sidecar: listening on (\S+); events are kept in \S+$/m;

/** Red when what it took is in its memory alone, or when it ends before what waits is sent. */
it('has a sidecar that takes events, decides, and hands on what it has when it is ended', async () => {
  const environment = {
    METERGATE_URL: instance.origin,
    METERGATE_KEY: instance.keys().live.secret,
    METERGATE_SPOOL: join(project, 'sidecar-spool'),
    PORT: '0',
  };
  const [logFile, outputFile] = ['sidecar.log', 'sidecar.out'].map((name) => join(project, name)) as [
    string,
    string,
  ];
  const start = async () => {
    const command = [join(project, 'node_modules', '.bin', 'metergate-sidecar')];
    writeFileSync(outputFile, '');
    const child = await startReady({
      name: 'the sidecar',
      command,
      environment,
      readyLine: READY,
      logFile,
      outputFile,
    });
    onTestFinished(async () => void (await endChild(child)));
    const read = () => READY.exec(readFileSync(outputFile, 'utf8'))?.[1];
    const origin = await seenInTime(read, { timeoutMs: 5_000 }, 'its address');
    const call = async (path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' };
      const post = body ? { method: 'POST', headers, body: JSON.stringify(body) } : {};
      const response = await fetch(`${origin}${path}`, post);
      return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
    };
    return { child, call };
  };
  const eventsOf = (run: string) =>
    Array.from({ length: 300 }, (_, at) => {
      return { customerId: 'initech', meterId: 'by_sidecar', value: 0.1, idempotencyKey: `${run}-${at}` };
    });
  const killed = await start();
  expect(await killed.call('/track', eventsOf('a'))).toEqual({ status: 202, taken: 300, errors: [] });
  await endChild(killed.child, 'SIGKILL');
  const { child, call } = await start();
  expect(await call('/track', [...eventsOf('b'), ...eventsOf('a').slice(0, 100)])).toMatchObject({
    taken: 400,
  });
  expect(await call('/track', { customerId: 'initech' })).toMatchObject({ status: 400, taken: 0 });
  expect(await call('/check/initech/none?requested=2')).toMatchObject({
    allowed: false,
    source: expect.stringMatching(/^(local|server)$/),
  });
  expect(await call('/healthz')).toMatchObject({ status: 'ok', mode: 'spool', dropped: 0 });
  expect(await endChild(child, 'SIGTERM')).toBe(0);
  const reader = createClient({ url: environment.METERGATE_URL, apiKey: environment.METERGATE_KEY });
  const of = { customerId: 'initech', meterId: 'by_sidecar', consistency: 'strong' } as const;
  expect((await reader.usage.retrieve(of)).current).toBe(60);
  expect(readdirSync(environment.METERGATE_SPOOL)).toEqual([]);
  expect(readFileSync(logFile, 'utf8')).not.toContain(environment.METERGATE_KEY);
});

it('has types for a strict caller, with those of Node.js and with those of browsers', () => {
  const caller = `
import { createClient, createMeter, type UsageEvent, verifyWebhook } from 'metergate';
import { meterStream } from 'metergate/ai';
const event: UsageEvent = { customerId: 'a', meterId: 'b', value: 1 };
const meter = createMeter({ url: 'http://127.0.0.1', apiKey: 'k' });
export const taken: boolean = meter.track(event);
const client = createClient({ url: 'http://127.0.0.1', apiKey: 'k' });
export const name: Promise<string> = client.customers.retrieve({ customerId: 'a' }).then((one) => one.name);
// @ts-expect-error customerId is missing
client.customers.retrieve({});
// @ts-expect-error there is no such status
client.plans.list({ status: 'gone' });
export const data = verifyWebhook({ body: '', headers: {}, secret: '' }).then((one) => {
  return one.type === 'usage.threshold' ? one.data.currentUsage + 1 : 0;
});
declare const stream: AsyncIterable<{ usage?: { prompt_tokens: number; cached?: number | null } | null }>;
export const chunks = meterStream({
  meter,
  stream,
  tokensOf: ({ usage }) => usage && { input: usage.prompt_tokens, cached: usage.cached },
  event: { customerId: 'a', meterId: 'b' },
});
`;
  const common = `
import { createMeter } from 'metergate';
export const meter = createMeter({ url: 'http://127.0.0.1', apiKey: 'k' });
`;
  writeFileSync(join(project, 'caller.ts'), caller);
  writeFileSync(join(project, 'common.cts'), common);
  for (const options of [
    { lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
    { lib: ['es2022'], types: ['node'] },
  ]) {
    const compilerOptions = {
      ...options,
      typeRoots: [join(process.cwd(), 'node_modules', '@types')],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      target: 'es2022',
      module: 'nodenext',
    };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['caller.ts', 'common.cts'] }),
    );
    run(process.execPath, [join(process.cwd(), 'node_modules/typescript/bin/tsc'), '-p', project], project);
  }
});

it('needs no module of Node.js in a worker', async () => {
  const entry = join(project, 'worker.mjs');
  writeFileSync(entry, "export * from 'metergate';\nexport * from 'metergate/webhooks';\n");
  mkdirSync(join(project, 'out'), { recursive: true });
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    outfile: join(project, 'out', 'worker.mjs'),
    metafile: true,
    logLevel: 'silent',
  });
  const [output] = Object.values(metafile.outputs);
  expect(output?.imports).toEqual([]);
  expect(Object.keys(metafile.inputs).filter((name) => name.includes('spool/'))).toEqual([]);
});
