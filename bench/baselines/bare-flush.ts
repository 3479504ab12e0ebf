/**
 * What goal G3 compares with: so many bytes appended and flushed at a fixed pace, and nothing else.
 * Arguments: folder, bytes, milliseconds between two, milliseconds in all. Prints each time as a JSON array,
 * in milliseconds.
 */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';

const [folder = '.', ...numbers] = process.argv.slice(2);
const [bytes = 0, everyMs = 1, durationMs = 0] = numbers.map(Number);
const path = join(folder, 'bare-flush');
const file = openSync(path, 'w');
const block = Buffer.alloc(bytes, 'x');
const times: number[] = [];
const startedAt = performance.now();
for (let slot = 0; slot * everyMs < durationMs; slot++) {
  const waitMs = startedAt + slot * everyMs - performance.now();
  if (waitMs > 0) await pass(waitMs);
  const from = performance.now();
  writeSync(file, block);
  fdatasyncSync(file);
  times.push(performance.now() - from);
}
closeSync(file);
rmSync(path);
process.stdout.write(`${JSON.stringify(times)}\n`);
