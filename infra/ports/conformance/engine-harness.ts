import type { CommitPart, Engine } from '../engine.ts';

/** One engine over a real idempotency store, with customers, meters and time in the hands of the test. */
export interface EngineHarness {
  engine: Engine;
  setNow(ms: number): void;
  /** Adds a customer, or changes the one with this id. */
  putCustomer(customer: { id: string; externalId?: string; archived?: boolean }): void;
  /** Adds a meter, or changes the one with this key. */
  putMeter(meter: {
    key: string;
    id?: string;
    property?: string;
    isLatest?: boolean;
    archived?: boolean;
  }): void;
  /** While true no name can be queried; cached names are still known. */
  setUnavailable(unavailable: boolean): void;
  /** Customers and meters of the workspace's other mode, by these names. */
  putInOtherMode(...names: string[]): void;
  /** The names of the other mode can no longer be queried. */
  setOtherModeUnavailable(): void;
  /** Puts the part on the log and confirms its claim. */
  commit(part: CommitPart): Promise<void>;
  close(): Promise<void>;
}

export type CreateEngineHarness = () => Promise<EngineHarness>;
