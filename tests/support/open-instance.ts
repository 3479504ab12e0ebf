import { type Api, createApi } from './api.ts';
import { type Instance, type InstanceOptions, startInstance } from './instance.ts';

/** A Metergate and a client of its live environment. */
export interface OpenedInstance {
  instance: Instance;
  api: Api;
  /** Ends every process. Removes the data, or with `keep` leaves it and returns where it is. */
  close(options?: { keep: boolean }): Promise<string | undefined>;
}

export interface OpenOptions extends InstanceOptions {
  /** Of the client. */
  connections: number;
  /** Called as soon as a response begins to arrive. */
  onResponse?: () => void;
}

export async function openInstance(
  environment: Record<string, string>,
  { connections, onResponse, ...options }: OpenOptions,
): Promise<OpenedInstance> {
  const instance = await startInstance(environment, options);
  const to = { origin: instance.origin, key: instance.keys().live.secret, connections };
  const api = createApi({ ...to, ...(onResponse ? { onResponse } : {}) });
  return {
    instance,
    api,
    async close({ keep } = { keep: false }) {
      await api.close();
      if (keep) return await instance.leave();
      await instance.remove();
      return undefined;
    },
  };
}

/** The same, prepared: when the preparation fails the instance is ended and removed. */
export async function openPrepared<T>(
  environment: Record<string, string>,
  options: OpenOptions,
  prepare: (opened: OpenedInstance) => Promise<T>,
): Promise<T> {
  const opened = await openInstance(environment, options);
  try {
    return await prepare(opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}
