/**
 * `npm run torture`: the long form of every promise, against real processes. `-- --only 1,4` picks promises,
 * `-- --only distributed` one that has a name, `-- --only mutants` shows that each mutant is found,
 * `-- --only ids-random` shows it of one mutant, `-- --short` or `-- --rounds N` runs fewer rounds,
 * `-- --seed S` repeats a run, `-- --resume` continues the newest one that was cut off. Exit 1 when a
 * promise is broken, 3 when this machine lacks what one needs, 130 when interrupted.
 */
import { parseArgs } from 'node:util';
import { lacking } from '../support/machine-requirements.ts';
import type { FaultPromise, FaultResult, Form } from './promise.ts';
import { ON_WISH, PROMISES } from './promises.ts';
import { newRunFile, type OpenedFile, unfinishedRunFile, writeRunFile } from './run-file.ts';
import { runPromise, unbegun } from './run-promise.ts';

const RESULTS = 'bench/results';
const EXIT = { kept: 0, broken: 1, wrongUsage: 2, notRun: 3, interrupted: 130 } as const;
const OPTIONS = {
  only: { type: 'string' },
  rounds: { type: 'string' },
  short: { type: 'boolean' },
  seed: { type: 'string' },
  resume: { type: 'boolean' },
} as const;

const RUNNABLE = [...PROMISES, ...ON_WISH];

type Wishes = ReturnType<typeof readWishes>;

const exitCode = await runFaultTests().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  return EXIT.wrongUsage;
});
// Exit at once: with a socket that never closes, Node 20 spins in its own clean-up and does not exit.
process.exit(exitCode);

async function runFaultTests(): Promise<number> {
  const wishes = readWishes();
  const lacks = lacking('linux');
  if (lacks !== undefined) throw new Error(`Not on this machine: ${lacks}.`);
  const opened = wishes.resume ? unfinishedRunFile(RESULTS) : planned(wishes);
  if (!opened) throw new Error('There is no unfinished run to resume.');
  const { file, path } = opened;
  let interrupted = false;
  process.once('SIGINT', () => {
    // The processes under test may have received it too: this round shows nothing. A second one ends at once.
    interrupted = true;
    say('interrupted: continue with --resume');
  });
  for (const [at, before] of file.results.entries()) {
    if (before.outcome !== 'unfinished' || interrupted) continue;
    const { seed, rounds, title } = before;
    const promise = RUNNABLE.find((one) => one.title === title);
    if (!promise) throw new Error(`${path} is of another release: it has "${title}".`);
    const onRound = (result: FaultResult): void => {
      file.results[at] = result;
      writeRunFile(RESULTS, opened);
      say(progress(result));
    };
    say(`promise ${promise.promises.join(', ')}: ${title}, ${rounds} rounds, seed ${seed}`);
    const run = { seed, rounds, form: file.form, resumed: before, isInterrupted: () => interrupted };
    onRound(await runPromise(promise, { ...run, onRound, say: (line) => say(`  ${line}`) }));
    say(verdict(file.results[at] ?? before, promise));
  }
  say(`${path}`);
  if (interrupted) return EXIT.interrupted;
  if (file.results.every(({ outcome }) => outcome === 'kept')) return EXIT.kept;
  return file.results.some(({ outcome }) => outcome === 'broken') ? EXIT.broken : EXIT.notRun;
}

function readWishes() {
  const { values } = parseArgs({ options: OPTIONS });
  const only = values.only?.split(',');
  const unknown = only?.filter((one) => !RUNNABLE.some((promise) => isMeant(promise, one)));
  if (unknown?.length) throw new Error(`No promise is numbered or named ${unknown.join(', ')}.`);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) throw new Error('--rounds N, N > 0');
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (!Number.isInteger(seed)) throw new Error('--seed S, a whole number');
  const form: Form = values.short ? 'short' : 'long';
  return { only, rounds, seed, form, resume: values.resume === true };
}

function isMeant({ name, promises }: FaultPromise, wish: string): boolean {
  return wish === name || promises.some((one) => String(one) === wish);
}

function planned({ only, rounds, seed, form }: Wishes): OpenedFile {
  const chosen = only ? RUNNABLE.filter((promise) => only.some((one) => isMeant(promise, one))) : PROMISES;
  const results = chosen.map((promise) => {
    return unbegun(promise, { seed, rounds: rounds ?? promise.rounds[form], form });
  });
  const opened = newRunFile(RESULTS, form, results);
  writeRunFile(RESULTS, opened);
  return opened;
}

function progress(result: FaultResult): string {
  const { rounds, roundsDone, seconds } = result;
  const left = roundsDone === 0 ? 0 : (seconds / roundsDone) * (rounds - roundsDone);
  const time = `${Math.round(seconds)} s, about ${Math.round(left)} s left`;
  return `${result.promises.join(',')} round ${roundsDone}/${rounds}, ${time}: ${figures(result)}`;
}

function figures({ counts, peaks }: FaultResult): string {
  return [...Object.entries(counts), ...Object.entries(peaks)]
    .map(([what, number]) => `${what} ${number}`)
    .join(', ');
}

function verdict(result: FaultResult, { name }: FaultPromise): string {
  if (result.lacks !== undefined) return `${result.promises.join(',')} NOT RUN: ${result.lacks}`;
  if (result.outcome !== 'broken') return `${result.promises.join(',')} ${result.outcome}`;
  const again = `npm run torture -- --only ${name ?? result.promises[0]} --seed ${result.seed}`;
  const left = result.leftAt === undefined ? [] : [`data and log are left at ${result.leftAt}`];
  const lines = [...result.problems, ...left, `to repeat it: ${again}`];
  const head = `${result.promises.join(',')} BROKEN after round ${result.roundsDone} of ${result.rounds}`;
  return [head, ...lines.map((line) => `  ${line}`)].join('\n');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
