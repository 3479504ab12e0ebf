import type { Address } from '../support/proxy/tcp-proxy.ts';

/** A store as processes of its own, on a folder that stays. */
export interface StoreProcess {
  /** Of the running one; of the last one while none runs. */
  address(): Address;
  /** SIGKILL for every process of it. Resolves when they are gone. */
  kill(): Promise<void>;
  /** On the same folder, after a kill. Resolves when it takes connections. */
  start(): Promise<void>;
  /** SIGSTOP for every process of it: connections stay and are accepted, and no response comes. */
  freeze(): void;
  thaw(): void;
}
