import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { splitEnvironment } from '../schemas/primitives/environment.ts';
import { stampFirstCall } from './store/stamp-first-call.ts';

/** Stamps a workspace's first API call, once, after the response. */
export interface FirstCallStamp {
  saw(environment: string): void;
  /** Waits for the running statements. */
  close(): Promise<void>;
}

/** Workspaces known as stamped. A full set is emptied, at the price of one needless statement each. */
const STAMPED_MAX = 10_000;

export function createFirstCallStamp(pool: Pool, log: Logger): FirstCallStamp {
  const stamped = new Set<string>();
  /** Environments of those: what comes with every request is not taken apart each time. */
  const seen = new Set<string>();
  const writing = new Set<Promise<void>>();

  function write(workspaceId: string): void {
    const written = stampFirstCall(pool, workspaceId)
      .catch((err: unknown) => {
        stamped.delete(workspaceId); // the next request tries again
        seen.clear();
        log.debug({ err }, 'cannot stamp the first API call');
      })
      .finally(() => writing.delete(written));
    writing.add(written);
  }

  return {
    saw(environment) {
      if (seen.has(environment)) return;
      if (seen.size >= STAMPED_MAX) seen.clear();
      seen.add(environment);
      const { workspaceId } = splitEnvironment(environment);
      if (stamped.has(workspaceId)) return;
      if (stamped.size >= STAMPED_MAX) stamped.clear();
      stamped.add(workspaceId);
      write(workspaceId);
    },
    async close() {
      await Promise.all(writing);
    },
  };
}
