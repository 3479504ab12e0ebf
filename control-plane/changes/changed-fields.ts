import { canonicalJson, exactJson } from '../../schemas/primitives/exact-json.ts';

/** Names of the fields with different values, independent of how they are written. */
export function changedFields(before: object, after: object): string[] {
  const [old, now] = [before, after] as Array<Record<string, unknown>>;
  return Object.keys({ ...old, ...now }).filter((name) => textOf(old?.[name]) !== textOf(now?.[name]));
}

function textOf(value: unknown): string {
  return value === undefined ? '' : canonicalJson(exactJson(value));
}
