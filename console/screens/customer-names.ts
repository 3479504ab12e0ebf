import { useQuery } from '../api/graphql.ts';
import { namesQuery } from './queries.ts';

/** Name by id, as far as they are read. */
export function useCustomerNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const unique = [...new Set(ids)].sort();
  const variables = Object.fromEntries(unique.map((id, at) => [`id${at}`, id]));
  const { data } = useQuery(unique.length === 0 ? undefined : namesQuery(unique.length), variables);
  const found = Object.values(data ?? {}).flatMap((one) => (one ? [[one.id, one.name] as const] : []));
  return new Map(found);
}
