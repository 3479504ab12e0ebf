import type { Backfills } from '../registry.ts';
import type { Listeners } from './listeners.ts';

export const NO_LISTENERS: Listeners = {
  find: () => new Map(),
  known: () => undefined,
  forget: () => undefined,
  clear: () => undefined,
};

/** No session of usage is open. */
export const NO_BACKFILLS: Backfills = {
  findBackfill: () => Promise.resolve({ code: 'not_found', message: 'No backfill has this id.' }),
};
