/**
 * The API keys of this browser tab, at most one for each mode. They are in sessionStorage, which ends with
 * the tab, and are sent to this origin alone. A link may bring one in its fragment (`/console#key=…`), which
 * browsers send to no server; it is taken out of the address at once.
 */
import { createStore, useStore } from './store.ts';

export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];

export interface Session {
  keys: Partial<Record<Mode, string>>;
  mode: Mode;
  /** The mode whose key came with a link, until the reader has confirmed where it led. */
  linked?: Mode | undefined;
}

const STORED_AS = 'metergate-console-keys';
const IN_FRAGMENT = /^#key=(.*)$/s;

const session = createStore<Session>(stored());
/** The key that a link brought, until it is used or turned down. */
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

/** Shows the mode of that key. */
export function keepKey(mode: Mode, key: string): void {
  change({ ...session.get(), keys: { ...session.get().keys, [mode]: key }, mode });
}

/** The same, unasked, where there was no key: the first screen names where the link led. */
export function keepLinkedKey(mode: Mode, key: string): void {
  change({ keys: { [mode]: key }, mode, linked: mode });
}

/** The reader knows where the link led. */
export function confirmLink(): void {
  change({ ...session.get(), linked: undefined });
}

export function showMode(mode: Mode): void {
  change({ ...session.get(), mode });
}

/** Of the mode that is shown. */
export function forgetKey(): void {
  const { keys, mode, linked } = session.get();
  const rest = { ...keys };
  delete rest[mode];
  const next = mode === 'live' && rest.test ? 'test' : mode;
  change({ keys: rest, mode: next, linked: linked === mode ? undefined : linked });
}

/** Of all modes. */
export function forgetKeys(): void {
  change({ keys: {}, mode: session.get().mode });
}

/** Undefined also where it is a key that this tab has: then its mode is shown. */
function takeKeyOfLink(): string | undefined {
  const key = IN_FRAGMENT.exec(location.hash)?.[1];
  if (key === undefined) return undefined;
  history.replaceState(null, '', '#/');
  const known = MODES.find((mode) => session.get().keys[mode] === key);
  if (known === undefined) return key;
  showMode(known);
  return undefined;
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
    const { keys, mode, linked } = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '');
    return { keys: Object(keys), mode: mode === 'live' ? 'live' : 'test', linked };
  } catch {
    return { keys: {}, mode: 'test' };
  }
}
