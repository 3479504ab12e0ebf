/**
 * What goal G3 compares with: so many bytes written durably at a fixed pace, as the log writes its frames,
 * and nothing else. Arguments: folder, bytes, milliseconds between two, milliseconds in all. Prints how long
 * each took as a JSON array, in milliseconds.
 */
import { closeSync, constants, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';

const [folder = '.', ...numbers] = process.argv.slice(2);
const [bytes = 0, everyMs = 1, durationMs = 0] = numbers.map(Number);
const path = join(folder, 'bare-flush');
/** Other systems than Linux have none. */
const DSYNC: number | undefined = constants.O_DSYNC;
const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (DSYNC ?? 0));
const block = Buffer.alloc(bytes, 'x');
const times: number[] = [];
const startedAt = performance.now();
for (let slot = 0; slot * everyMs < durationMs; slot++) {
  const waitMs = startedAt + slot * everyMs - performance.now();
  if (waitMs > 0) await pass(waitMs);
  const from = performance.now();
  writeSync(file, block);
  if (DSYNC === undefined) fdatasyncSync(file);
  times.push(performance.now() - from);
}
closeSync(file);
rmSync(path);
process.stdout.write(`${JSON.stringify(times)}\n`);
