/**
 * The API keys of this browser tab, at most one for each mode. They are in sessionStorage, which ends with
 * the tab, and are sent to this origin alone. A link may bring one in its fragment (`/console#key=…`), which
 * browsers send to no server; it is taken out of the address at once.
 */
import { createStore, useStore } from './store.ts';

export type Mode = 'live' | 'test';

export interface Session {
  keys: Partial<Record<Mode, string>>;
  mode: Mode;
}

const STORED_AS = 'metergate-console-keys';
const IN_FRAGMENT = /^#key=([\w-]+)$/;

const session = createStore<Session>(stored());
/** The key that a link brought, until it is tried. */
export const linkedKey = createStore<string | undefined>(takeKeyOfLink());
window.addEventListener('hashchange', () => {
  const key = takeKeyOfLink();
  if (key !== undefined) linkedKey.set(key);
});

export function useSession(): Session {
  return useStore(session);
}

/** Of the mode that is shown; undefined before the sign-in. */
export function currentKey(): string | undefined {
  const { keys, mode } = session.get();
  return keys[mode];
}

export function keepKey(mode: Mode, key: string): void {
  change({ keys: { ...session.get().keys, [mode]: key }, mode });
}

export function showMode(mode: Mode): void {
  change({ ...session.get(), mode });
}

/** Of the mode that is shown. */
export function forgetKey(): void {
  const { keys, mode } = session.get();
  const rest = { ...keys };
  delete rest[mode];
  change({ keys: rest, mode: mode === 'live' && rest.test ? 'test' : mode });
}

function takeKeyOfLink(): string | undefined {
  const key = IN_FRAGMENT.exec(location.hash)?.[1];
  if (key !== undefined) history.replaceState(null, '', '#/');
  return key;
}

function change(next: Session): void {
  session.set(next);
  try {
    sessionStorage.setItem(STORED_AS, JSON.stringify(next));
  } catch {
    // A browser without storage: the keys are kept until the page is closed.
  }
}

function stored(): Session {
  try {
    const read = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '');
    return { keys: Object(read.keys), mode: read.mode === 'live' ? 'live' : 'test' };
  } catch {
    return { keys: {}, mode: 'test' };
  }
}
