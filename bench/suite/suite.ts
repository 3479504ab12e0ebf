/**
 * `npm run bench`: every goal of the table on the code as it is, as ratios of candidates run in turn in one
 * session. Prints the table, stores it with all figures, and renews bench/README.md and the page next to the
 * result. Asserts nothing. `-- --quick` is the short form (three minutes), `-- --scale` the long one, with
 * `--millions 1,10,50` of events stored and `--minutes 10` at a fixed rate; `-- --skip PART` leaves parts out
 * (they then stand as not measured). Interrupted it keeps and prints what it has. Only a run of all parts
 * renews the README. Exit codes: 1 a part could not be measured, 2 the arguments cannot be used, 130 it was
 * interrupted.
 */
import { writeFileSync } from 'node:fs';
import { signal } from '../../infra/platform/process-identity.ts';
import { descendantsOf } from '../../tests/support/processes.ts';
import { INTERRUPTED_CODE, interruption } from '../interruption.ts';
import { Unusable } from '../read-options.ts';
import { keepResult } from '../result-file.ts';
import { GOALS, type Measured } from './goals.ts';
import { watchOtherWork } from './other-work.ts';
import { GRACE_MS, LEFT_OUT, PARTS } from './parts.ts';
import { reportPage } from './report-page.ts';
import { runParts } from './run-parts.ts';
import { openScenario } from './scenario.ts';
import { readSuiteArguments } from './suite-arguments.ts';
import type { SuiteResult } from './suite-result.ts';
import { goalNotes, goalTable, renewReadme } from './table.ts';

async function main(interrupted: AbortSignal): Promise<void> {
  const { form, sizes, skip } = readSuiteArguments(process.argv.slice(2), Object.keys(PARTS));
  process.on('exit', endChildren);
  // An abandoned part fails when its instance ends, and no caller awaits it any more.
  interrupted.addEventListener('abort', () => process.on('unhandledRejection', () => undefined));
  const begun = { form, seed: 1, sizes, skipped: skip };
  const result: SuiteResult = {
    ...begun,
    measured: [...LEFT_OUT],
    seconds: {},
    otherWorkCores: {},
    failed: {},
  };
  const scenario = await openScenario(sizes);
  try {
    const names = Object.keys(PARTS).filter((name) => !skip.includes(name));
    const begin = async (name: string) => {
      const others = watchOtherWork();
      await PARTS[name]?.(scenario, sizes, result, interrupted).finally(() => {
        result.otherWorkCores[name] = others.stop();
      });
    };
    await runParts(names, { begin, interrupted, graceMs: GRACE_MS }, result);
    printResult(result);
  } finally {
    // By force: that ends a control side that a part still holds, too.
    await scenario.close();
  }
  // What a part that was left still waits for would keep this process for minutes.
  if (result.interrupted) process.exit(INTERRUPTED_CODE);
}

/** Nothing that a part has started outlives the suite, however that ends. */
function endChildren(): void {
  for (const pid of descendantsOf(process.pid)) signal(pid, 'SIGKILL');
}

function printResult(result: SuiteResult): void {
  result.measured.sort((a, b) => place(a) - place(b));
  const path = keepResult('suite', result);
  const page = path.replace(/json$/, 'html');
  writeFileSync(page, reportPage(path));
  process.stdout.write(`${goalTable(result)}\n\n${goalNotes(result)}\n\n${path}\n${page}\n`);
  if (result.interrupted) return;
  // Nearly empty, a table says less than the one before it.
  if (result.skipped.length === 0) renewReadme(path);
  if (Object.keys(result.failed).length > 0) process.exitCode = 1;
}

function place({ id }: Measured): number {
  return GOALS.findIndex((goal) => goal.id === id);
}

const interrupted = interruption('what was measured is kept; once more ends it at once');
try {
  await main(interrupted);
} catch (error) {
  const isTheirs = error instanceof Unusable;
  process.stderr.write(`bench: ${isTheirs ? error.message : (error as Error).stack}\n`);
  if (interrupted.aborted) process.exit(INTERRUPTED_CODE);
  process.exit(isTheirs ? 2 : 1);
}
