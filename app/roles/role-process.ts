import type { Logger } from 'pino';
import { type Closer, createCloser } from '../../infra/platform/closer.ts';
import { dataDirFault } from '../../infra/platform/data-dir.ts';
import { isDiskFull } from '../../infra/platform/disk-guard.ts';
import { EXIT, exitCodeOf, isFinal } from '../../infra/platform/exit-code.ts';
import { keepNextTickFast } from '../../infra/platform/fast-next-tick.ts';
import { createLogger } from '../../infra/platform/logger.ts';
import { checkOpenFilesLimit } from '../../infra/platform/open-files-limit.ts';
import { ignoreOutputErrors } from '../../infra/platform/output-errors.ts';
import { publicUrl } from '../../infra/platform/public-url.ts';
import { onStopSignals } from '../../infra/platform/stop-signals.ts';
import { type Config, readEnv, toConfig } from '../config/config.ts';

export interface RoleContext {
  config: Config;
  log: Logger;
  /** What is opened is added here; it is closed in reverse order when the process ends in any orderly way. */
  closer: Closer;
  /** Ends the process with the exit code of this error: for failures after the start. */
  fail(error: unknown): void;
}

/** The message of a role's process to its supervisor once it serves. */
export interface ReadyMessage {
  type: 'ready';
  /** The address of the public server, from the role that has it. */
  port?: number;
}

/** From the supervisor, each time that one becomes ready and all have been: what each reported last. */
export interface AllReadyMessage {
  type: 'all-ready';
  ready: Record<string, ReadyMessage>;
}

/** From the supervisor, which sees whether this process still runs its event loop: it is sent back. */
export interface PingMessage {
  type: 'ping';
}

/** Without a supervisor it is never called. */
export function onAllReady(listener: (ready: AllReadyMessage['ready']) => void): void {
  process.on('message', (message) => {
    if (isAllReady(message)) listener(message.ready);
  });
}

function isAllReady(message: unknown): message is AllReadyMessage {
  return isOfType(message, 'all-ready');
}

export function isReady(message: unknown): message is ReadyMessage {
  return isOfType(message, 'ready');
}

export function isPing(message: unknown): message is PingMessage {
  return isOfType(message, 'ping');
}

function isOfType(message: unknown, type: string): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === type;
}

function respondToPings(): void {
  process.on('message', (message) => {
    if (isPing(message)) process.send?.(message, undefined, undefined, () => undefined);
  });
}

/**
 * Runs a role as this process: configuration, signals and exit codes are here, everything else is in
 * `start`. The process ends by SIGTERM or SIGINT (drained, 0), when the supervisor's channel closes
 * (drained, 0), when `start` or a later part fails, and at once on a second signal. The only place that
 * ends a role's process.
 */
export async function runRole(
  role: string,
  start: (context: RoleContext) => Promise<Omit<ReadyMessage, 'type'> | undefined>,
): Promise<void> {
  ignoreOutputErrors();
  keepNextTickFast();
  const config = configOrExit();
  const log = createLogger({ role, level: config.logLevel });
  const closer = createCloser(log);
  let ending = false;

  async function end(exitCode: number): Promise<void> {
    if (ending) return;
    ending = true;
    await closer.close();
    process.exit(exitCode);
  }

  function fail(error: unknown): void {
    if (!ending) notify(error, log);
    void end(exitCodeOf(error));
  }

  onStopSignals(
    () => void end(EXIT.stopped),
    () => process.exit(EXIT.failed),
  );
  process.on('disconnect', () => void end(EXIT.stopped));
  // The supervisor was killed while this was being loaded: no process receives messages any more.
  if (process.connected === false) return await end(EXIT.stopped);
  process.on('uncaughtException', fail);
  if (process.send) respondToPings();
  try {
    // Under a supervisor it has been looked at.
    if (!process.send) checkOpenFilesLimit(config.ingest.connectionsMax, log);
    const ready = await start({ config, log, closer, fail });
    if (!ending) reportReady(role, config, { type: 'ready', ...ready });
  } catch (error) {
    fail(isDiskFull(error) ? dataDirFault(error, config.dataDir) : error);
  }
}

/** Sends a message to the supervisor; without one, the operator reads this process's output. */
function reportReady(role: string, { host, port }: Config, message: ReadyMessage): void {
  if (process.send) process.send(message);
  else
    process.stdout.write(`Metergate ${role} ready on ${publicUrl({ host, port: message.port ?? port })}\n`);
}

/** A mistake of the operator is one plain sentence; anything else is logged with all that is known. */
function notify(error: unknown, log: Logger): void {
  if (error instanceof Error && isFinal(exitCodeOf(error))) process.stderr.write(`${error.message}\n`);
  else log.fatal({ err: error }, 'this process has to stop');
}

function configOrExit(): Config {
  try {
    return toConfig(readEnv());
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(exitCodeOf(error));
  }
}
