import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, createWriteStream, openSync, readFileSync } from 'node:fs';
import { endChild, hasEnded } from './child-end.ts';
import { seenInTime } from './in-time.ts';

export interface ReadyProcess {
  /** In errors. */
  name: string;
  command: string[];
  /** Added to our own. */
  environment: Record<string, string>;
  /** What it writes on stdout once it is ready. */
  readyLine: RegExp;
  /** What it writes on stderr is added to this file. */
  logFile: string;
  /** The same of stdout, which is not kept otherwise. */
  outputFile?: string;
  /** Ends one that does not become ready, with whatever it has started. */
  end?: (child: ChildProcess) => Promise<unknown>;
}

const START = { timeoutMs: 60_000 };

/** Resolves when it is ready. A start that fails leaves no process. */
export async function startReady(started: ReadyProcess): Promise<ChildProcess> {
  const { name, command, environment, readyLine, logFile, outputFile, end = endChild } = started;
  const [program = '', ...args] = command;
  const log = openSync(logFile, 'a');
  const env = { ...process.env, ...environment };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', log] });
  closeSync(log);
  // Rejects where the command cannot be run.
  await once(child, 'spawn');
  if (outputFile !== undefined) child.stdout?.pipe(createWriteStream(outputFile, { flags: 'a' }));
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  try {
    const hasShown = () => readyLine.test(output) || hasEnded(child) || undefined;
    await seenInTime(hasShown, START, `the ready line of ${name}`);
    if (!hasEnded(child)) return child;
    throw new Error(`${name} ended with ${child.exitCode}: ${readFileSync(logFile, 'utf8')}`);
  } catch (error) {
    await end(child);
    throw error;
  }
}
