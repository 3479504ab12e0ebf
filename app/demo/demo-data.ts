import { setMaxListeners } from 'node:events';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { keepFact, readFact } from '../../domain/store/installation.ts';
import type { PrivateTargets } from '../../infra/platform/private-targets.ts';
import { createApiCall } from './api-client.ts';
import { createDemoData } from './create-demo-data.ts';
import { DATA_DUE, readDemoKeys } from './demo-workspace.ts';

export interface DemoDataDeps {
  pool: Pool;
  log: Logger;
  /** `demo-keys.json`. */
  file: string;
  webhookTargets: PrivateTargets;
}

export interface DemoDataJob {
  /** Where the public port is: begins when it is first known. */
  served(url: string): void;
  close(): Promise<void>;
}

export const DATA_DONE = 'demo_data_done';
/** Responses are kept for 24 hours: then the same requests would not be the same any more. */
const CONTINUED_FOR_MS = 20 * 3_600_000;

/**
 * Fills the test mode of the demo workspace once, after its first start, with requests to the public port
 * and the workspace's own key. A later start continues what was interrupted.
 */
export function startDemoData(deps: DemoDataDeps): DemoDataJob {
  const stopping = new AbortController();
  // One for each attempt of a request, until it ends.
  setMaxListeners(0, stopping.signal);
  let url: string | undefined;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      await fillDemoWorkspace(deps, { url: () => url ?? '', signal: stopping.signal });
    } catch (err) {
      if (!stopping.signal.aborted)
        deps.log.warn({ err }, 'the data of the demo are incomplete: the next start continues');
    }
  }

  return {
    served(given) {
      url = given;
      // Where it was interrupted, the next time that all are ready continues it.
      running ??= run().finally(() => {
        running = undefined;
      });
    },
    async close() {
      stopping.abort();
      await running;
    },
  };
}

/** Throws Defect or Transient; what is done stays done. */
export async function fillDemoWorkspace(
  { pool, log, file, webhookTargets }: DemoDataDeps,
  access: { url(): string; signal: AbortSignal },
): Promise<void> {
  const due = await readFact(pool, DATA_DUE);
  if (!due || (await readFact(pool, DATA_DONE))) return;
  const keys = await readDemoKeys(pool, file);
  // An operator who removes the keys wants no demo.
  if (!keys) return;
  const nowMs = Date.parse(due.toString());
  if (Date.now() - nowMs > CONTINUED_FOR_MS) {
    log.warn('the data of the demo were interrupted for too long, and stay incomplete');
  } else {
    const beganAt = performance.now();
    const call = createApiCall({ ...access, secretKey: keys.test.secret });
    const { events } = await createDemoData({ call, nowMs, webhookTargets });
    const tookMs = Math.round(performance.now() - beganAt);
    log.info({ events, tookMs }, 'the demo workspace has its data, in test mode');
  }
  await keepFact(pool, DATA_DONE, Buffer.from(new Date().toISOString()));
}
