import { inspect, type ParseArgsConfig, parseArgs } from 'node:util';

/** Something about a run's input cannot be used: printed in one line, exit code 2. */
export class Unusable extends Error {}

/** Values as they were given. Throws Unusable. */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  options: Options,
  args: string[] = process.argv.slice(2),
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new Unusable((error as Error).message.split(/[.\n]/)[0]);
  }
}

export interface Bounds {
  from: number;
  to: number;
  whole?: boolean;
}

/** Throws Unusable. */
export function numberOption(name: string, text: string, { from, to, whole = false }: Bounds): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  const fits = number >= from && number <= to && (!whole || Number.isInteger(number));
  if (fits) return number;
  throw new Unusable(`--${name} ${text} is no ${whole ? 'whole ' : ''}number from ${from} to ${to}`);
}

/** Of what one may ask a script for: beyond it is a slip of the hand. */
export const OF_A_SCRIPT = {
  rounds: { from: 1, to: 1_000, whole: true },
  seconds: { from: 0.1, to: 86_400 },
  rate: { from: 1, to: 10_000_000 },
  count: { from: 1, to: 100_000_000, whole: true },
} as const satisfies Record<string, Bounds>;

/**
 * Ends with the code it gives, with 2 and one line where its options cannot be used, with 1 and the stack
 * where it failed.
 */
export async function runScript(name: string, main: () => Promise<unknown>): Promise<void> {
  try {
    const code = await main();
    process.exitCode = typeof code === 'number' ? code : 0;
  } catch (error) {
    const isTheirs = error instanceof Unusable;
    process.stderr.write(`${name}: ${isTheirs ? error.message : inspect(error)}\n`);
    // Exit at once: open sockets and timers would keep the process running.
    process.exit(isTheirs ? 2 : 1);
  }
}
