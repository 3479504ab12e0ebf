import type { Listeners } from './listeners.ts';

export const NO_LISTENERS: Listeners = {
  find: () => new Map(),
  known: () => undefined,
  forget: () => undefined,
  clear: () => undefined,
};
