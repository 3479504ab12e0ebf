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
  let hi = first;
  let failure: unknown;
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).then(
      (now) => {
        hi = now;
      },
      (error: unknown) => {
        failure = error;
      },
    );
  }, LOOK_EVERY_MS);
  return {
    uncounted() {
      if (failure) throw failure;
      return (durableEnd.look() ?? hi) - hi;
    },
    counted: () => hi - first,
    async stop() {
      clearInterval(timer);
      await looking;
      durableEnd.close();
      await client.end();
    },
  };
}
