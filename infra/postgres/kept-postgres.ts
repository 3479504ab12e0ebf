import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';

export interface KeptPostgres {
  /** Where it is now, or was last. */
  url(): string;
  /** Stops it for good. */
  close(): Promise<void>;
}

export interface KeptPostgresOptions {
  directory: string;
  log: Logger;
  /** It came back on another port. */
  onMoved: (url: string) => void;
}

const BACKOFF_MS = { first: 100, most: 5_000 };

/** An embedded server that is started again when it dies. Throws what its first start throws. */
export async function keepPostgres({ directory, log, onMoved }: KeptPostgresOptions): Promise<KeptPostgres> {
  const closing = new AbortController();
  let restarting: Promise<void> = Promise.resolve();
  let server = await startEmbeddedPostgres({ directory, log });
  watch(server);

  function watch(current: EmbeddedPostgres): void {
    current.onExit(() => {
      log.error({ postmaster: current.pid }, 'Postgres ended and is started again');
      restarting = startAgain();
    });
  }

  async function startAgain(): Promise<void> {
    const again = () => startEmbeddedPostgres({ directory, log });
    const started = await untilDone('Postgres does not start', again);
    if (!started) return;
    server = started;
    watch(started);
    // By itself, so that a server that is well is watched once: on a full disk nothing can be told for long.
    await untilDone('where Postgres is now cannot be told', async () => {
      if (server === started) onMoved(started.url);
    });
  }

  /** Again and again; undefined when it is closed before. */
  async function untilDone<T>(failure: string, act: () => Promise<T>): Promise<T | undefined> {
    for (
      let waitMs = BACKOFF_MS.first;
      !closing.signal.aborted;
      waitMs = Math.min(waitMs * 2, BACKOFF_MS.most)
    ) {
      try {
        return await act();
      } catch (err) {
        log.error({ err, waitMs }, failure);
        await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  return {
    url: () => server.url,
    close: async () => {
      closing.abort();
      await restarting;
      await server.stop();
    },
  };
}
