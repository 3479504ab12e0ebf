/**
 * `npm run bench:check`: goal G8, a warm entitlement check compared with a bare Koa that returns a constant,
 * on an otherwise idle instance. Prints and stores figures; asserts nothing. `-- --rounds N`,
 * `-- --seconds N` of either in a round, in short turns.
 */
import { measureInstance } from './measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript } from './read-options.ts';
import { keepResult } from './result-file.ts';
import { compareChecks } from './suite/check-ratio.ts';

const OPTIONS = {
  rounds: { type: 'string', default: '40' },
  seconds: { type: 'string', default: '0.8' },
} as const;

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const rounds = numberOption('rounds', values.rounds, OF_A_SCRIPT.rounds);
  const runMs = 1_000 * numberOption('seconds', values.seconds, OF_A_SCRIPT.seconds);
  const sizes = { rounds, runMs };
  const figures = await measureInstance(1, ({ instance }) => compareChecks(instance, sizes));
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${keepResult('check', figures)}\n`);
}

await runScript('bench:check', main);
