import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';

export interface KeptPostgres {
  /** When it has started: where it is now, or was last. Throws what its first start throws. */
  url: Promise<() => string>;
  /** Stops it for good; a start in progress is given up. */
  close(): Promise<void>;
}

export interface KeptPostgresOptions {
  directory: string;
  log: Logger;
  /** It came back on another port. */
  onMoved: (url: string) => void;
}

const BACKOFF_MS = { first: 100, most: 5_000 };

/** An embedded server that is started again when it dies. */
export function keepPostgres(options: KeptPostgresOptions): KeptPostgres {
  const closing = new AbortController();
  const started = startKept(options, closing.signal);
  return {
    url: started.then(({ url }) => url),
    close: async () => {
      closing.abort();
      const server = await started.catch(() => undefined);
      await server?.stop();
    },
  };
}

async function startKept({ directory, log, onMoved }: KeptPostgresOptions, closing: AbortSignal) {
  const start = () => startEmbeddedPostgres({ directory, log, signal: closing });
  let restarting: Promise<void> = Promise.resolve();
  let server = await start();
  watch(server);

  function watch(current: EmbeddedPostgres): void {
    current.onExit(() => {
      log.error({ postmaster: current.pid }, 'Postgres ended and is started again');
      restarting = startAgain();
    });
  }

  async function startAgain(): Promise<void> {
    const started = await untilDone('Postgres does not start', start);
    if (!started) return;
    server = started;
    watch(started);
    // Separately, so that a healthy server is watched once: on a full disk no address can be published for
    // long.
    await untilDone('the address of Postgres cannot be published', async () => {
      if (server === started) onMoved(started.url);
    });
  }

  /** Again and again; undefined when it is closed before. */
  async function untilDone<T>(failure: string, act: () => Promise<T>): Promise<T | undefined> {
    for (let waitMs = BACKOFF_MS.first; !closing.aborted; waitMs = Math.min(waitMs * 2, BACKOFF_MS.most)) {
      try {
        return await act();
      } catch (err) {
        if (closing.aborted) break;
        log.error({ err, waitMs }, failure);
        await delay(waitMs, undefined, { signal: closing }).catch(() => undefined);
      }
    }
    return undefined;
  }

  return {
    url: () => server.url,
    stop: async () => {
      await restarting;
      await server.stop();
    },
  };
}
