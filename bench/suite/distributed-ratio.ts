import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lacking } from '../../tests/support/machine-requirements.ts';
import type { Measured } from './goals.ts';
import type { Paired } from './paired.ts';
import { lastWords } from './short-failure.ts';

const PROGRAM = fileURLToPath(new URL('../distributed.js', import.meta.url));
const PATIENCE_MS = 1_200_000;

const run = promisify(execFile);

/** How a process ended that did not end with 0. */
interface Ended extends Error {
  code: number | string | null;
  signal: string | null;
  stderr: string;
}

/** What is used of what `npm run bench:distributed` prints. */
interface Figures {
  G10: Paired;
  oneIngest: { perSecond: number };
  twoIngest: { perSecond: number };
}

/** G10, in a process of its own: an installation with a broker, a key store and two of each role. */
export async function distributedRatio(rounds: number): Promise<Measured> {
  const lacks = lacking('ownServers');
  if (lacks !== undefined) return { id: 'G10', note: lacks };
  const args = [PROGRAM, '--rounds', String(rounds)];
  const { stdout } = await run(process.execPath, args, { timeout: PATIENCE_MS }).catch((error: Ended) => {
    throw new Error(`it ended with ${error.code ?? error.signal}: ${lastWords(error.stderr)}`);
  });
  // The path of its own result comes last.
  const { G10, oneIngest, twoIngest } = JSON.parse(stdout.slice(0, stdout.lastIndexOf('}') + 1)) as Figures;
  const rates = `${oneIngest.perSecond} and ${twoIngest.perSecond} events/s`;
  return { id: 'G10', ...G10, note: `${rates} with broker, key store and load generator included` };
}
