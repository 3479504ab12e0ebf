import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

/** Of a value in addition to its name and text: quotes, comma and colon, and its place in memory. */
const BYTES_OF_VALUE = 32;

/** What one object takes, whatever is in it. */
export interface EntrySize {
  bytes: number;
  /** Its fields and aliases, those that `@skip` leaves out too. */
  values: number;
}

/** Of the object, or of each object of the list, that this field returns. */
export function sizeOfEntry({ fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>) {
  const size = { bytes: BYTES_OF_VALUE, values: 1 };
  for (const { selectionSet } of fieldNodes) if (selectionSet) add(size, sizeOfSet(selectionSet, fragments));
  return size;
}

/** Of sets that were measured: a list in a list asks for the size of each. */
const known = new WeakMap<SelectionSetNode, EntrySize>();

function sizeOfSet(set: SelectionSetNode, fragments: GraphQLResolveInfo['fragments']): EntrySize {
  const seen = known.get(set);
  if (seen) return seen;
  const size = { bytes: 0, values: 0 };
  for (const one of set.selections) {
    if (one.kind === Kind.FIELD) {
      const { value: name } = one.alias ?? one.name;
      add(size, { bytes: BYTES_OF_VALUE + name.length, values: 1 });
      continue;
    }
    const { selectionSet } = (one.kind === Kind.FRAGMENT_SPREAD ? fragments[one.name.value] : one) ?? {};
    if (selectionSet) add(size, sizeOfSet(selectionSet, fragments));
  }
  known.set(set, size);
  return size;
}

function add(size: EntrySize, { bytes, values }: EntrySize): void {
  size.bytes += bytes;
  size.values += values;
}

/** Of a value without its name: the texts in it, and the places of what is in it. Nothing here recurses. */
export function textBytesOf(root: unknown): number {
  let bytes = 0;
  const rest: unknown[] = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    if (typeof value !== 'object' || value === null) continue;
    const entries: Iterable<unknown> = Array.isArray(value)
      ? value
      : value instanceof Map
        ? [...value].flat(1)
        : Object.entries(value).flat(1);
    for (const inner of entries) {
      bytes += BYTES_OF_VALUE;
      rest.push(inner);
    }
  }
  return bytes;
}

/** Characters of the texts in a row. */
export function textsOf(row: object): number {
  let length = 0;
  for (const value of Object.values(row)) if (typeof value === 'string') length += value.length;
  return length;
}
