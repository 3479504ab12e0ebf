import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createSizes } from './process-sizes.ts';

// Both red when a look only fills the peaks, and when what was there before counts as none.
it('a process that grows beyond the bound is named with both of its sizes', async () => {
  const child = spawn(process.execPath, ['-e', HOARDER], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = child.stdout[Symbol.asyncIterator]();
  await lines.next();
  const sizes = createSizes({ Hoarder: child.pid ?? 0 });
  expect(sizes.problems()).toEqual([]);
  child.stdin.write('more');
  await lines.next();
  sizes.look();
  expect(sizes.problems()).toEqual([expect.stringMatching(/^rssMib of Hoarder went from \d+ to \d{3,}$/)]);
  expect(sizes.peaks.rssMibOfHoarder).toBeGreaterThan(300);
});

it('a process that leaves its files open is named, and one that keeps its size is not', () => {
  const sizes = createSizes({ Test: process.pid });
  const opened = Array.from({ length: 110 }, () => openSync('package.json', 'r'));
  sizes.look();
  for (const file of opened) closeSync(file);
  sizes.look();
  expect(sizes.problems()).toEqual([expect.stringMatching(/^openFiles of Test went from \d+ to \d{3}$/)]);
  const steady = createSizes({ Test: process.pid });
  steady.look();
  expect(steady.problems()).toEqual([]);
});

const HOARDER = `
  process.stdout.write('here');
  process.stdin.once('data', () => {
    globalThis.hoard = Buffer.alloc(300 * 1024 * 1024, 1);
    process.stdout.write('taken');
  });`;
