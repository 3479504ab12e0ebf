import type { Listeners } from './listeners.ts';

export const NO_LISTENERS: Listeners = {
  find: () => new Map(),
  forget: () => undefined,
  clear: () => undefined,
};
