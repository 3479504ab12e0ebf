import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { folderOfThisFile, testFolder } from '../../tests/support/test-folder.ts';
import type { LogFrame } from '../ports/event-log.ts';
import { openSegmentLogReader } from './reader.ts';
import { openSegmentLogWriter } from './writer.ts';

const SEGMENT_BYTES_MAX = 300_000;
const FRAMES_MAX = 100_000;
const ROUNDS = 8;

const compiled = folderOfThisFile();
const script = join(compiled, 'infra/segment-log/append-until-killed-under-test.js');

/** A process of its own needs JavaScript: Node 20 reads no TypeScript. */
beforeAll(() => {
  const source = fileURLToPath(new URL('./append-until-killed-under-test.ts', import.meta.url));
  const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  const options = ['--ignoreConfig', '--noCheck', '--target', 'es2023', '--module', 'nodenext'];
  const out = ['--rewriteRelativeImportExtensions', '--types', 'node', '--outDir', compiled];
  execFileSync(process.execPath, [tsc, source, ...options, ...out]);
  writeFileSync(join(compiled, 'package.json'), '{"type":"module"}');
});

describe('a writer killed at any time', () => {
  // Mutant it catches: the append returns before the write has.
  it('has every frame it confirmed on its log, and the next writer continues behind them', async () => {
    const directory = testFolder();
    const responses: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      responses.push(...(await appendUntilKilled(directory, round * FRAMES_MAX, 1 + ((round * 37) % 60))));
    }
    const frames = await reopenAndRead(directory);
    const places = new Set(frames.map(({ position, next }) => `${position} ${next}`));
    expect(responses.length).toBeGreaterThanOrEqual(ROUNDS);
    expect(responses.filter((response) => !places.has(response))).toEqual([]);
    // And nothing else: frame behind frame, the numbers of each process without a gap.
    const numbers = frames.map(({ bytes }) => decodeFrame(bytes).committedAtMs);
    expect(frames.filter(({ position }, at) => position !== (frames[at - 1]?.next ?? 0))).toEqual([]);
    const follows = (number: number, at: number) => number === (numbers[at - 1] ?? 0) + 1;
    expect(numbers.filter((number, at) => number % FRAMES_MAX !== 0 && !follows(number, at))).toEqual([]);
  });
});

// The order check of flush and confirmation. Where strace is missing it is reported as skipped.
describe.skipIf(spawnSync('strace', ['-V']).status !== 0)('the order of system calls', () => {
  // Mutants it catches: O_DSYNC left out; the durable end, or the confirmation, given before the write has
  // returned.
  it('is: a write to a segment opened with O_DSYNC returns, the end is published, then confirmed', () => {
    const folder = testFolder();
    const trace = join(folder, 'trace');
    const calls = ['-f', '-s', '64', '-o', trace, '-e', 'trace=openat,pwrite64,pwritev,write'];
    const command = [process.execPath, script, join(folder, 'log'), String(SEGMENT_BYTES_MAX), '0', '30'];
    execFileSync('strace', [...calls, ...command]);
    const steps = stepsOf(readFileSync(trace, 'utf8'));
    let durable = 0;
    let published = 0;
    for (const { kind, bytes } of steps) {
      if (kind === 'durable') durable += bytes;
      if (kind === 'published') published = durable;
      if (kind === 'confirmed') expect(bytes).toBeLessThanOrEqual(published);
    }
    const responded = steps.filter(({ kind }) => kind === 'confirmed');
    expect(responded).toHaveLength(30);
    expect(responded.at(-1)?.bytes).toBe(durable);
  });
});

/** The confirmations that a process printed for its appends until it was killed in the midst of them. */
async function appendUntilKilled(
  directory: string,
  firstNumber: number,
  responsesMin: number,
): Promise<string[]> {
  const numbers = [SEGMENT_BYTES_MAX, firstNumber, FRAMES_MAX].map(String);
  const child = spawn(process.execPath, [script, directory, ...numbers], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const responses: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    responses.push(line);
    if (responses.length === responsesMin) child.kill('SIGKILL');
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
  // The last line may have been cut by the kill.
  return responses.filter((line) => /^\d+ \d+$/.test(line)).slice(0, -1);
}

async function reopenAndRead(directory: string): Promise<LogFrame[]> {
  const writer = await openSegmentLogWriter({ directory, identityCheck: new Uint8Array(16), log: SILENT });
  const reader = await openSegmentLogReader({ directory });
  const frames = await reader.read(0, 0, 1e9);
  await reader.close();
  await writer.close();
  return frames;
}

interface Step {
  kind: 'durable' | 'published' | 'confirmed';
  /** Of frames made durable by this call; for a confirmation, the end in it. */
  bytes: number;
}

/** A trace in the order of its lines: a write counts when it returns, a confirmation when it is begun. */
function stepsOf(trace: string): Step[] {
  const segments = new Set<string>();
  const published = new Set<string>();
  const begun = new Map<string, string>();
  const steps: Step[] = [];
  for (const line of trace.split('\n')) {
    const [, pid = '', call = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const response = /^write\(1, "\d+ (\d+)/.exec(call);
    if (response) steps.push({ kind: 'confirmed', bytes: Number(response[1]) });
    if (call.endsWith('<unfinished ...>')) begun.set(pid, call);
    const whole = call.startsWith('<...') ? `${begun.get(pid)}${call}` : call;
    const result = / = (\d+)$/.exec(whole)?.[1];
    if (result === undefined) continue;
    if (whole.startsWith('openat(')) {
      if (whole.includes('.seg"') && whole.includes('O_DSYNC')) segments.add(result);
      if (whole.includes('durable-end"')) published.add(result);
    }
    const [, file = ''] = /^pwritev?(?:64)?\((\d+),/.exec(whole) ?? [];
    if (published.has(file)) steps.push({ kind: 'published', bytes: 0 });
    if (segments.has(file) && !whole.includes('"MGSG'))
      steps.push({ kind: 'durable', bytes: Number(result) });
  }
  return steps;
}
