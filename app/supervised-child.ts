import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { EXIT, isFinal } from '../infra/platform/exit-code.ts';
import { watchLiveness } from './liveness.ts';
import { type AllReadyMessage, isReady, type ReadyMessage } from './roles/role-process.ts';

/**
 * A process of ours: it sends a {@link ReadyMessage}, from then on sends each PingMessage back, drains on
 * SIGTERM and ends when its channel closes.
 */
export interface ChildSpec {
  name: string;
  program: string;
  /** On top of our own environment. */
  env?: Record<string, string>;
  /** Options of Node itself, on top of our own. */
  nodeOptions?: string[];
  /** From SIGTERM to SIGKILL. */
  stopTimeoutMs: number;
  /** One that leaves twelve of these periods without a response is killed. Default: 5 s. */
  pingEveryMs?: number;
}

export interface ChildEvents {
  log: Logger;
  /** After each start that came so far. */
  onReady(message: ReadyMessage): void;
  /** It will not be started again: its exit code is final, or it has never once been ready. */
  onGivenUp(exitCode: number): void;
}

export interface SupervisedChild {
  /** Sends it a message, if it runs. */
  notify(message: AllReadyMessage): void;
  /** Resolves when it has ended, by force after `stopTimeoutMs`. */
  stop(): Promise<void>;
  /** SIGKILL at once. */
  force(): void;
}

/** The first start again is at once; one that dies again before it is ready waits longer each time. */
const BACKOFF_MS = { first: 100, most: 5_000 };
/** A child that was not once ready and ended this often does not lack luck. */
const FIRST_STARTS_MAX = 3;
/** Being ready for less is not being well: it must not start again without any wait. */
const WELL_AFTER_MS = 1_000;
const PING_EVERY_MS = 5_000;

/** Keeps one child process running until it is stopped or given up. */
export function superviseChild(spec: ChildSpec, { log, onReady, onGivenUp }: ChildEvents): SupervisedChild {
  let running: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let stopping = false;
  let wasEverReady = false;
  let failures = 0;
  const { pingEveryMs = PING_EVERY_MS } = spec;

  function run(): void {
    const env = { ...process.env, ...spec.env };
    const execArgv = [...process.execArgv, ...(spec.nodeOptions ?? [])];
    const child = fork(spec.program, { env, execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    let readyAt = Number.POSITIVE_INFINITY;
    running = child;
    child.on('message', (message) => {
      if (!isReady(message)) return;
      readyAt = performance.now();
      wasEverReady = true;
      watchLiveness(child, { everyMs: pingEveryMs, log: log.child({ child: spec.name }) });
      onReady(message);
    });
    const ended = (exitCode: number | null, signal: NodeJS.Signals | null) => {
      running = undefined;
      const wasWell = performance.now() - readyAt > WELL_AFTER_MS;
      failures = wasWell ? 0 : failures + 1;
      if (!stopping) startAgain(exitCode, signal);
    };
    child.once('exit', ended);
    child.on('error', (err) => {
      log.error({ child: spec.name, err }, 'a process cannot be reached');
      // A process that could not be made, perhaps for lack of processes or files, emits no exit.
      if (child.pid === undefined) ended(null, null);
    });
  }

  function startAgain(exitCode: number | null, signal: NodeJS.Signals | null): void {
    if (isFinal(exitCode) || (!wasEverReady && failures >= FIRST_STARTS_MAX)) {
      onGivenUp(exitCode || EXIT.failed);
      return;
    }
    const waitMs = failures <= 1 ? 0 : Math.min(BACKOFF_MS.first * 2 ** (failures - 2), BACKOFF_MS.most);
    log.error({ child: spec.name, exitCode, signal, waitMs }, 'a process ended and is started again');
    restart = setTimeout(run, waitMs);
  }

  async function stop(): Promise<void> {
    stopping = true;
    clearTimeout(restart);
    const child = running;
    if (child?.pid === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), spec.stopTimeoutMs);
    await ended;
    clearTimeout(late);
  }

  run();
  return { notify: (message) => send(running, message), stop, force: () => void running?.kill('SIGKILL') };
}

/** One that has just ended is started again, and notified again. */
function send(child: ChildProcess | undefined, message: AllReadyMessage): void {
  if (child?.connected) child.send(message, () => undefined);
}
