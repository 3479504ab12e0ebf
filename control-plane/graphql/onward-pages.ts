import type { ObjectRef } from '@pothos/core';
import { type PageArgs, sliceOf } from './connections.ts';
import { builder } from './schema-builder.ts';

/** A page of a list of the REST API that is read onward alone, from one page to the next. */
interface OnwardPage<Item> {
  nodes: Item[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: null; endCursor: string | null };
}

export function onwardType<Item>(name: string, type: ObjectRef<typeof builder.$inferSchemaTypes, Item>) {
  return builder.objectRef<OnwardPage<Item>>(`${name}Page`).implement({
    fields: (t) => ({
      nodes: t.field({
        type: [type],
        nullable: false,
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ nodes }) => nodes as never,
      }),
      pageInfo: t.field({
        type: builder.pageInfoRef(),
        nullable: false,
        complexity: 0,
        resolve: ({ pageInfo }) => pageInfo,
      }),
    }),
  });
}

export const onwardArgs = builder.args((t) => ({
  first: t.int({ defaultValue: 20, description: 'From 1 to 100.' }),
  after: t.string({ description: 'The `endCursor` of the previous page.' }),
}));

/** By an operation that has `limit` and `cursor`. Throws Rejected. */
export async function onwardPage<Item>(
  { first, after }: PageArgs,
  read: (page: { limit: number; cursor?: string }) => Promise<{ data: Item[]; nextCursor?: string }>,
): Promise<OnwardPage<Item>> {
  const { first: limit } = sliceOf('', { first });
  const { data, nextCursor } = await read({ limit, ...(after ? { cursor: after } : {}) });
  const hasPreviousPage = Boolean(after);
  const endCursor = nextCursor ?? null;
  const pageInfo = { hasNextPage: nextCursor !== undefined, hasPreviousPage, startCursor: null, endCursor };
  return { nodes: data, pageInfo };
}
