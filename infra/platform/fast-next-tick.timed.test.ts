import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const COMPILED = new URL('../../dist-tests/infra/platform/fast-next-tick.js', import.meta.url).href;
const ROUNDS = 3;

/** A process that has called nextTick some times and then had no traffic for a few major collections. */
const PROGRAM = `
import { keepNextTickFast } from '${COMPILED}';
const [kept] = process.argv.slice(1);
if (kept === 'kept') keepNextTickFast();
const ticks = (count) => new Promise((resolve) => {
  const next = () => (count-- > 0 ? process.nextTick(next) : resolve());
  next();
});
await ticks(1_000);
for (let times = 0; times < 8; times += 1) {
  await new Promise(setImmediate);
  gc();
}
await ticks(50_000);
const before = process.cpuUsage();
await ticks(1_000_000);
process.stdout.write(String(process.cpuUsage(before).user));
`;

function costOf(kept: 'kept' | 'forgotten'): number {
  const options = ['--expose-gc', '--input-type=module', '-e', PROGRAM, kept];
  return Number(execFileSync(process.execPath, options, { encoding: 'utf8', timeout: 60_000 }));
}

// Red, too, once Node no longer needs it: then the module may go.
it('a process that was idle calls nextTick in less than two thirds of the time', () => {
  const pairs = Array.from({ length: ROUNDS }, () => [costOf('kept'), costOf('forgotten')] as const);
  const kept = Math.min(...pairs.map(([cost]) => cost));
  const forgotten = Math.min(...pairs.map(([, cost]) => cost));
  expect(kept).toBeLessThan((forgotten * 2) / 3);
});
