/**
 * `npm run bench:compare -- a.json b.json`: what changed from one kept result to another of the same kind. A
 * ratio is worse when it moved the wrong way by more than the noise that both runs saw between equal runs,
 * another figure by more than the tolerance given for it, a goal when it is not measured any more.
 * Exit code 1 when something got worse, 2 when the two cannot be compared.
 */
import { readFileSync } from 'node:fs';
import { runScript } from '../read-options.ts';
import { type Compared, compareResults, NotComparable } from './judge-results.ts';
import type { KeptResult } from './kept-figures.ts';

function main([before, after, ...more]: string[]): number {
  if (before === undefined || after === undefined || more.length > 0) {
    throw new NotComparable('give two results: npm run bench:compare -- a.json b.json');
  }
  const { warnings, compared } = compareResults(read(before), read(after));
  for (const warning of warnings) process.stdout.write(`! ${warning}\n`);
  for (const one of compared) process.stdout.write(`${lineOf(one)}\n`);
  const worse = compared.filter(({ verdict }) => verdict === 'WORSE');
  process.stdout.write(`${worse.length} of ${compared.length} figures got worse\n`);
  return worse.length > 0 ? 1 : 0;
}

function read(path: string): KeptResult {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as KeptResult;
  } catch (error) {
    throw new NotComparable(`${path} is no result: ${(error as Error).message}`);
  }
}

function lineOf({ name, before, after, change, tolerance, verdict }: Compared): string {
  const figures = `${before} → ${after ?? 'not measured'}`.padEnd(24);
  const start = `${verdict.padEnd(6)} ${name.padEnd(34)} ${figures}`;
  if (change === undefined || tolerance === undefined) return start.trimEnd();
  const moved = `${change >= 1 ? '+' : ''}${((change - 1) * 100).toFixed(1)} %`;
  return `${start} ${moved} (± ${(tolerance * 100).toFixed(0)} %)`;
}

await runScript('bench:compare', async () => main(process.argv.slice(2)));
