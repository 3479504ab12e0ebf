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
    for (
      let waitMs = BACKOFF_MS.first;
      !closing.signal.aborted;
      waitMs = Math.min(waitMs * 2, BACKOFF_MS.most)
    ) {
      try {
        server = await startEmbeddedPostgres({ directory, log });
        watch(server);
        onMoved(server.url);
        return;
      } catch (err) {
        log.error({ err, waitMs }, 'Postgres does not start');
        await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
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
