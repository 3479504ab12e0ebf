import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { endChild } from '../support/child-end.ts';
import { inTime, seenInTime } from '../support/in-time.ts';

/** A client in one language: how its program is run that tracks until it is killed. */
export interface TrackingClient {
  name: string;
  command: readonly string[];
}

export interface TrackingOptions {
  command: readonly string[];
  /** Where to send, and the folder of the spool: TRACK_URL, TRACK_KEY, TRACK_SPOOL. */
  environment: Record<string, string>;
  /** For its ledger. */
  folder: string;
  /** The property of its events that tells them from those of others. */
  run: string;
}

export interface TrackingProcess {
  /** Resolves when it has tracked so many. */
  hasTracked(count: number): Promise<void>;
  /** Resolves with how many events the ledger has. */
  kill(): Promise<number>;
  /** Resolves with its statistics when it has drained the spool and ended. Rejects when it fails. */
  ended(timeoutMs: number): Promise<Record<string, number>>;
  /** On stdout and stderr. */
  output(): string;
}

const STARTED = { timeoutMs: 60_000, everyMs: 2 };

export function startTracking({ command, environment, folder, run }: TrackingOptions): TrackingProcess {
  const [program = '', ...args] = command;
  const ledger = join(folder, `${run}.ledger`);
  const env = { ...process.env, ...environment, TRACK_LEDGER: ledger, TRACK_RUN: run };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  const output = outputOf(child);
  return {
    output,
    async hasTracked(count) {
      // A number and its line feed are at least two bytes.
      const isLikely = () => existsSync(ledger) && statSync(ledger).size >= 2 * count;
      const hasTracked = () => (isLikely() && linesOf(ledger) >= count) || undefined;
      await seenInTime(hasTracked, STARTED, `${count} events: ${output()}`);
    },
    async kill() {
      await endChild(child, 'SIGKILL');
      return linesOf(ledger);
    },
    async ended(timeoutMs) {
      const [exitCode] = await inTime(closed, timeoutMs, `the end of a client: ${output()}`);
      if (exitCode !== 0) throw new Error(`a client ended with ${exitCode}: ${output()}`);
      return JSON.parse(output().trim().split('\n').at(-1) ?? '{}') as Record<string, number>;
    },
  };
}

/** Whole ones: a kill may cut off the last. */
function linesOf(ledger: string): number {
  return readFileSync(ledger, 'utf8').split('\n').length - 1;
}

function outputOf(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return () => output;
}
