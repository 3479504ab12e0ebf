import { setTimeout as pass } from 'node:timers/promises';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { openDurableEnd } from '../../infra/segment-log/durable-end.ts';
import { readLogIdentity } from '../../infra/segment-log/log-identity.ts';
import type { Instance } from '../../tests/support/instance.ts';
import { connectClient } from '../../tests/support/with-client.ts';

/** How far the count is behind the log, from now on. */
export interface UncountedWatch {
  /** Of the log: acknowledged, and not counted yet; a few hundredths of a second old. */
  uncounted(): number;
  /** Counted since the watch began. */
  counted(): number;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 50;
const BLIND_MS_MAX = 10_000;
const COUNTED = `SELECT coalesce(max(hi), 0)::float8 AS hi FROM log_ranges WHERE state <> 'pending'`;

/** Reads what the load writes: a request for it would cost the control side more than it counts meanwhile. */
export async function watchUncounted(instance: Instance): Promise<UncountedWatch> {
  const { log } = dataDirAt(instance.dataDir);
  const identity = readLogIdentity(log);
  if (!identity) throw new Error('there is no log yet');
  const durableEnd = openDurableEnd(log, identity.logId, 'read');
  const client = await connectClient(instance.postgresUrl());
  const look = async () => (await client.query<{ hi: number }>(COUNTED)).rows[0]?.hi ?? 0;
  const first = await look();
  let [hi, lookedAt] = [first, performance.now()];
  let isStopped = false;
  const watching = (async () => {
    while (!isStopped) {
      await pass(LOOK_EVERY_MS);
      [hi, lookedAt] = [await look(), performance.now()];
    }
  })();
  // What is not known any more shows in `uncounted`.
  watching.catch(() => undefined);
  return {
    uncounted() {
      if (performance.now() > lookedAt + BLIND_MS_MAX)
        throw new Error('Postgres does not say what is counted');
      return (durableEnd.look() ?? hi) - hi;
    },
    counted: () => hi - first,
    async stop() {
      isStopped = true;
      await client.end();
      await watching.catch(() => undefined);
      durableEnd.close();
    },
  };
}
