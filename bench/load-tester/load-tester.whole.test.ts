import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inTime } from '../../tests/support/in-time.ts';
import { instanceOfThisFile } from '../../tests/support/instance-of-this-file.ts';
import { listenUntil } from '../../tests/support/listen.ts';
import { folderOfThisFile } from '../../tests/support/test-folder.ts';

const END_MS = 60_000;
const folder = folderOfThisFile();
const instance = await instanceOfThisFile();

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function begin(args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const script = join('dist-tests', 'bench', 'load-tester', 'load-tester.js');
  const { METERGATE_KEY: _, ...env } = process.env;
  const child = spawn(process.execPath, [script, '--out', folder, ...args], { env });
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (printed.out += chunk));
  child.stderr.on('data', (chunk) => (printed.err += chunk));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...printed }));
  return { child, ended: inTime(ended, END_MS, 'the load tester').finally(() => child.kill('SIGKILL')) };
}

const run = (args: string[]) => begin(args).ended;
const ours = () => ['--url', instance.origin, '--key', instance.keys().test.secret];

/** The result that the run printed is the file that it kept. */
function resultOf({ out }: Ended): Record<string, unknown> {
  const path = out.trimEnd().split('\n').at(-1) ?? '';
  const kept = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const printed = JSON.parse(out.slice(0, out.lastIndexOf('}') + 1)) as Record<string, unknown>;
  expect(kept).toMatchObject(printed);
  rmSync(path);
  return kept;
}

async function serve(respond: (path: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => respond(request.url ?? '', response));
  return (await listenUntil(onTestFinished, server)).url;
}

describe('npm run bench:load', () => {
  it.each([
    ['batches', ['--rate', '5000', '--batch', '100', '--replays', '0.4']],
    [
      'packed batches',
      ['--rate', '5000', '--batch', '500', '--gzip', '--properties', '10', '--connections', '2'],
    ],
    ['single events', ['--rate', '300', '--batch', '1', '--replays', '0.5', '--connections', '2']],
  ])('offers %s, and the counters match the responses', async (_, args) => {
    const ended = await run([...ours(), ...args, '--duration', '5s']);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.err).toMatch(/events\/s acknowledged/);
    const result = resultOf(ended) as { events: Record<string, number>; latencyMs: Record<string, number> };
    expect(result).toMatchObject({
      counters: 'exactly what was acknowledged',
      problems: [],
      interrupted: false,
      seed: 1,
    });
    expect(result.events.created).toBeGreaterThan(100);
    expect(result.events.duplicate).toBeGreaterThan(0);
    expect(result.latencyMs.p99).toBeGreaterThan(0);
    expect(ended.out + ended.err).not.toContain(instance.keys().test.secret);
  });

  it('prints what it has when it is interrupted', async () => {
    const { child, ended } = begin([...ours(), '--rate', '2000', '--duration', '10m']);
    child.stderr?.once('data', () => child.kill('SIGINT'));
    const printed = await ended;
    expect(printed.code).toBe(130);
    expect(resultOf(printed)).toMatchObject({
      interrupted: true,
      counters: 'exactly what was acknowledged',
      problems: [],
    });
  });

  it('ends with 1 and says where, when a counter differs from the responses', async () => {
    // A server that responds as promised, but counts something else.
    const liar = await serve((path, response) => {
      response.setHeader('x-api-version', 'v1').setHeader('content-type', 'application/json');
      const summary = { total: 500, created: 500, duplicate: 0, errors: 0 };
      const results = Array.from({ length: 500 }, (_, index) => ({ index, status: 'created' }));
      const responses: Array<[start: string, status: number, body: object]> = [
        ['/api/v1/customers', 201, { id: 'cus_1', createdAt: new Date().toISOString() }],
        ['/api/v1/usage/events', 200, { summary, results }],
        ['/api/v1/usage/cus_1', 200, { current: 1, total: 1, breakdown: [{ count: 7 }] }],
      ];
      const [, status, body] = responses.find(([start]) => path.startsWith(start)) ?? ['', 200, {}];
      response.statusCode = status;
      response.end(JSON.stringify(body));
    });
    const ended = await run(['--url', liar, '--key', 'sk_x', '--duration', '500ms', '--replays', '0']);
    expect(ended.code).toBe(1);
    expect(resultOf(ended)).toMatchObject({ counters: 'wrong' });
    expect(ended.out).toContain('7 events are counted');
  });
});

describe('what npm run bench:load cannot use', () => {
  const inOneLine = async (args: string[], words: RegExp) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(words);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([]);
  };

  it('is no key', () => inOneLine(['--url', instance.origin], /no key/));
  it('is a server that is down', () =>
    inOneLine(['--url', 'http://127.0.0.1:1', '--key', 'sk_x'], /nothing responds .*ECONNREFUSED/));
  it('is a URL that is none', () => inOneLine(['--url', '127.0.0.1', '--key', 'sk_x'], /is no http/));
  it('is a key that is not accepted', () =>
    inOneLine(['--url', instance.origin, '--key', 'sk_x'], /the key is not accepted/));
  it('is a key for browsers', () =>
    inOneLine(['--url', instance.origin, '--key', instance.keys().test.publishable], /secret key/));

  it('is a server of another kind', async () => {
    const url = await serve((_, response) => response.end('hello'));
    await inOneLine(['--url', url, '--key', 'sk_x'], /is not Metergate/);
  });

  it('is a clock that goes wrong', async () => {
    const url = await serve((path, response) => {
      response.setHeader('x-api-version', 'v1').setHeader('content-type', 'application/json');
      const createdAt = new Date(Date.now() - 3_600_000).toISOString();
      response.statusCode = path.endsWith('/workspace') ? 200 : 201;
      response.end(JSON.stringify({ id: 'cus_1', createdAt }));
    });
    await inOneLine(['--url', url, '--key', 'sk_x'], /clock is 3600 s behind/);
  });
});
