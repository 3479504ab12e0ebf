import { createApi } from '../support/api.ts';
import type { Judged } from '../support/compare.ts';
import { type Instance, type InstanceOptions, startInstance } from '../support/instance.ts';
import { createLedger } from '../support/ledger.ts';
import { makeWorld } from '../support/make-world.ts';

/** A Metergate with a world of customers and meters, and the ledger of what it acknowledges. */
export interface JudgedInstance {
  instance: Instance;
  judged: Judged;
  /** Ends every process. Removes the data, or with `keep` leaves it and says where it is. */
  close(options: { keep: boolean }): Promise<string | undefined>;
}

export interface JudgedOptions extends InstanceOptions {
  /** Of the client. */
  connections: number;
  /** Called as soon as a response begins to arrive. */
  onResponse?: () => void;
}

/** What was started is ended when it rejects. */
export async function startJudged(
  environment: Record<string, string>,
  { connections, onResponse, ...options }: JudgedOptions,
): Promise<JudgedInstance> {
  const instance = await startInstance(environment, options);
  const to = { origin: instance.origin, key: instance.keys().live.secret, connections };
  const api = createApi({ ...to, ...(onResponse ? { onResponse } : {}) });
  const close = async ({ keep }: { keep: boolean }): Promise<string | undefined> => {
    await api.close();
    if (keep) return await instance.leave();
    await instance.remove();
    return undefined;
  };
  try {
    const world = await makeWorld(api);
    return { instance, judged: { api, world, ledger: createLedger(world) }, close };
  } catch (error) {
    await close({ keep: false });
    throw error;
  }
}
