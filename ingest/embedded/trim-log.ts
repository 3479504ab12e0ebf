import type { Logger } from 'pino';
import type { Clock } from '../../infra/ports/clock.ts';
import type { LogRetention } from '../../infra/ports/event-log.ts';
import { Transient } from '../../schemas/failures.ts';

export interface TrimDeps {
  retention: LogRetention;
  /** Without the log before this position the next start knows every key all the same. */
  keys: { coveredUpTo(): number };
  /**
   * Records how far the log is given up: not beyond `before` and not beyond what is settled. Returns how far
   * it is now; undefined while all of it is needed.
   */
  raiseKeptFrom: (before: number) => Promise<number | undefined>;
  clock: Clock;
  log: Logger;
}

export interface Trimming {
  /** Waits for the run in progress. */
  close(): Promise<void>;
}

const FIRST_AFTER_MS = 1_000;
const EVERY_MS = 60_000;

/** Gives up, each minute, the part of the log that is old enough and no longer needed. */
export function startTrimming(deps: TrimDeps, keepMs: number): Trimming {
  let closed = false;
  let running = Promise.resolve();
  let timer = setTimeout(begin, FIRST_AFTER_MS);

  function begin(): void {
    running = trimLog(deps, keepMs)
      .catch((err: unknown) => notify(err, deps.log))
      .finally(() => {
        if (!closed) timer = setTimeout(begin, EVERY_MS).unref();
      });
  }

  return {
    close() {
      closed = true;
      clearTimeout(timer);
      return running;
    },
  };
}

/**
 * The given-up part was written `keepMs` ago, is settled from the first frame on, and is in the record file:
 * a restart has to bring the keys up from the rest. Postgres has the new start before the segments are
 * removed, so that no reader begins in a segment that is about to be deleted.
 */
export async function trimLog(deps: TrimDeps, keepMs: number): Promise<void> {
  const { retention, keys, raiseKeptFrom, clock, log } = deps;
  const old = await retention.writtenBefore(clock.nowMs() - keepMs);
  // mutant: log-trimmed-beyond-the-keys
  const before = Math.min(old, keys.coveredUpTo());
  const { start } = retention.extent();
  if (before <= start) return;
  const keptFrom = await raiseKeptFrom(before);
  if (keptFrom === undefined) {
    log.warn('nothing of the log is given up: a repair did not end, see `npm run audit -- --repair`');
    return;
  }
  await retention.trim(Math.min(before, keptFrom));
  const { start: to } = retention.extent();
  if (to > start) log.info({ from: start, to }, 'gave up old segments of the log');
}

function notify(err: unknown, log: Logger): void {
  if (err instanceof Transient) log.info({ err }, 'the log is not trimmed just now');
  else log.error({ err }, 'the log cannot be trimmed');
}
