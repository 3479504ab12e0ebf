import type { FaultResult } from '../tests/faults/promise.ts';
import type { RunFile } from '../tests/faults/run-file.ts';
import { kindOf, type Mutant } from '../tests/mutants/mutant.ts';
import { isSeenByRunOf } from '../tests/mutants/seen-by-run.ts';

/** The pages under docs/ that are made from the list of mutants and from the kept results of runs. */
export interface ReliabilityPages {
  mutants: string;
  runs: string;
  /** docs/reliability.md with the last run of each promise brought up to date. */
  promises: string;
}

export interface Sources {
  mutants: readonly Mutant[];
  /** bench/results/torture-*.json, in the order of their names: the newest last. */
  files: readonly RunFile[];
  /** docs/reliability.md as it is. */
  promises: string;
}

export function reliabilityPages({ mutants, files, promises }: Sources): ReliabilityPages {
  const runs = lastRuns(files);
  return { mutants: mutantsPage(mutants), runs: runsPage(runs), promises: withLastRuns(promises, runs) };
}

const MADE = 'This page is made by `npm run reliability`; a test compares it with its sources.';
const CELL_CHARS_MAX = 130;

function mutantsPage(mutants: readonly Mutant[]): string {
  const rows = [...mutants].sort(byPromise).map((one) => {
    const own = one.promises.filter((promise) => isSeenByRunOf(one, promise));
    const others = one.promises.filter((promise) => !isSeenByRunOf(one, promise));
    return `| \`${one.name}\` | ${cell(one.why)} | ${listed(own)} | ${listed(others)} |`;
  });
  const ofModules = mutants.filter(({ provedBy }) => provedBy.some((one) => kindOf(one) !== 'processes'));
  const ofRuns = mutants.filter(({ shownBy }) => shownBy);
  return `# Mutants

${MADE}

A mutant is one deliberate fault in the product. It names the tests that must fail with it. There are
${mutants.length}: ${ofRuns.length} are found by a long run on whole processes, and ${ofModules.length} by
tests of their modules. \`npm run breaks\` runs the tests of modules; \`npm run torture -- --only mutants\`
runs the long ones. The two columns of numbers name [promises](reliability.md): of those in the first, the
promise's own run turns red on whole processes; of those in the second, a test of the module or of another
promise does.

| mutant | what goes wrong | own run of promise | other test of promise |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function byPromise(a: Mutant, b: Mutant): number {
  return Math.min(...a.promises) - Math.min(...b.promises) || (a.name < b.name ? -1 : 1);
}

function listed(numbers: readonly number[]): string {
  return numbers.length === 0 ? '–' : numbers.join(', ');
}

function cell(text: string): string {
  const plain = text.replaceAll('|', '\\|');
  return plain.length <= CELL_CHARS_MAX ? plain : `${plain.slice(0, CELL_CHARS_MAX - 1).trimEnd()}…`;
}

interface Run {
  day: string;
  file: RunFile;
  result: FaultResult;
}

/** Of each title the newest long run that came to its end; where none did, the newest of all. */
function lastRuns(files: readonly RunFile[]): Run[] {
  const newest = new Map<string, Run>();
  for (const file of files) {
    for (const result of file.results) {
      const known = newest.get(result.title);
      if (file.form !== 'long' || SINGLE_MUTANT.test(result.title)) continue;
      if (known && isWhole(known.result) && !isWhole(result)) continue;
      newest.set(result.title, { day: file.at.slice(0, 10), file, result });
    }
  }
  return [...newest.values()].sort(
    (a, b) => order(a) - order(b) || (a.result.title < b.result.title ? -1 : 1),
  );
}

/** Of `--only NAME-OF-A-MUTANT`: repeated by the run of all of them. */
const SINGLE_MUTANT = /^the break /;

function isWhole({ outcome }: FaultResult): boolean {
  return outcome === 'kept' || outcome === 'broken';
}

/** The mutants' own run last. */
function order({ result }: Run): number {
  return result.promises[0] || Number.MAX_SAFE_INTEGER;
}

function runsPage(runs: readonly Run[]): string {
  const rows = runs.map(({ day, file, result }) => {
    const rounds = `${result.roundsDone} of ${result.rounds}`;
    const seconds = Math.round(result.seconds).toLocaleString('en');
    const promises = listed(result.promises.filter((one) => one > 0));
    const cells = [cell(result.title), promises, day, file.commit, rounds, `${seconds} s`, result.outcome];
    return `| ${cells.join(' | ')} |`;
  });
  const figures = runs.map(({ result }) => {
    const all = Object.entries({ ...result.counts, ...result.peaks }).sort(([a], [b]) => (a < b ? -1 : 1));
    const texts = all.map(([name, value]) => `${named(name)} ${value.toLocaleString('en')}`);
    return `- **${result.title}** (seed ${result.seed}): ${texts.join(', ') || 'no figures'}.`;
  });
  return `# Last long runs

${MADE}

The newest long run of each kind that came to its end (\`npm run torture\`), from
\`bench/results/torture-*.json\`, where machine, versions and every figure are. Where none came to its end,
the newest one that was begun. Promises are those of [reliability.md](reliability.md).

| run | promises | day | commit | rounds | time | outcome |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

## Figures

${figures.join('\n')}
`;
}

/** \`killsOfPostgres\` as words. */
function named(count: string): string {
  return count.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The last column of each numbered row: the outcome of all its runs, and the day of the oldest of them. */
function withLastRuns(page: string, runs: readonly Run[]): string {
  return page.replace(/^(\| (\d+) \|.*\|)[^|]*\|$/gm, (_, row: string, number: string) => {
    const own = runs.filter(({ result }) => result.promises.includes(Number(number)));
    const days = own.map(({ day }) => day).sort();
    return `${row} ${days.length === 0 ? '–' : `${outcomeOf(own)}, ${days[0]}`} |`;
  });
}

function outcomeOf(runs: readonly Run[]): string {
  if (runs.some(({ result }) => result.outcome === 'broken')) return 'broken';
  return runs.every(({ result }) => result.outcome === 'kept') ? 'kept' : 'not whole yet';
}
