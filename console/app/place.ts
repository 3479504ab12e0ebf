/**
 * Where in the console the reader is, kept in the fragment of the address: a link leads back there, and the
 * names of customers in it never reach a server's log.
 */
import { createStore, useStore } from './store.ts';

export interface Place {
  /** `#/customers/cus_1` is `['customers', 'cus_1']`. */
  path: string[];
  query: Readonly<Record<string, string>>;
}

type Query = Record<string, string | undefined>;

function placeOf(fragment: string): Place {
  if (!fragment.startsWith('#/')) return { path: [], query: {} };
  const [path = '', query = ''] = fragment.slice(2).split('?');
  return {
    path: path.split('/').filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** A link to that place. Parameters that are undefined or empty are left out. */
export function linkTo(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const place = createStore(placeOf(location.hash));
window.addEventListener('hashchange', () => place.set(placeOf(location.hash)));

export function usePlace(): Place {
  return useStore(place);
}

/** From an object, which the other mode does not have, to the list that has it. */
export function leaveObject(): void {
  const { path } = place.get();
  if (path.length < 2) return;
  history.replaceState(null, '', linkTo(path.slice(0, 1)));
  place.set(placeOf(location.hash));
}

/** Changes parameters of the place where the reader is, without a step to go back to. */
export function changeQuery(changed: Query): void {
  const { path, query } = place.get();
  history.replaceState(null, '', linkTo(path, { ...query, ...changed }));
  place.set(placeOf(location.hash));
}
