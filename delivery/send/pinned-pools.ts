import { type buildConnector, Pool } from 'undici';
import { boundReading } from './bound-reading.ts';

/** Connections that are kept alive, each to one address that was checked for the url it serves. */
export interface PinnedPools {
  /** To be used at once: a pool that was not requested for a while is closed. */
  poolOf(url: URL, address: string): Pool;
  close(): Promise<void>;
}

/** An idle pool holds no connection; it is some kilobytes. */
const POOLS_MAX = 1_000;

/** Many servers end an idle connection after 5 s without notice; an event on its way then is lost. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 30_000;
const HEADER_BYTES_MAX = 16_384;

/** The head of a response, 64 KiB of its body, and the framing of its chunks. */
const RESPONSE_BYTES_MAX = 131_072;

/**
 * A pool's connections go to its address and no other, and TLS is verified with the name. When a name leads
 * elsewhere the next attempt has another pool. A pool opens as many connections as it has attempts in flight:
 * dispatch bounds those.
 */
export function createPinnedPools(connect: buildConnector.connector): PinnedPools {
  const pools = new Map<string, Pool>();
  const closing = new Set<Promise<void>>();

  function open({ origin }: URL, address: string): Pool {
    return new Pool(origin, {
      // mutant: address-checked-before-fetched-after
      connect: bounded((options, callback) => connect({ ...options, hostname: address }, callback)),
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // Each attempt has a clock of its own, over all that it does.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  function end(pool: Pool): void {
    const ended = pool
      .close()
      .catch(() => undefined) // it was destroyed meanwhile
      .finally(() => closing.delete(ended));
    closing.add(ended);
  }

  return {
    poolOf(url, address) {
      const key = `${url.origin} ${address}`;
      const pool = pools.get(key) ?? open(url, address);
      pools.delete(key);
      pools.set(key, pool);
      const [oldest] = pools;
      if (oldest && pools.size > POOLS_MAX) {
        pools.delete(oldest[0]);
        end(oldest[1]);
      }
      return pool;
    },

    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
      await Promise.all(closing);
    },
  };
}

function bounded(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...opened) => {
      if (opened[1]) boundReading(opened[1], RESPONSE_BYTES_MAX);
      callback(...opened);
    });
  };
}
