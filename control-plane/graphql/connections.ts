import type { ObjectRef } from '@pothos/core';
import { Defect, Rejected } from '../../schemas/failures.ts';
import type { List } from '../store/read-page.ts';
import type { ListOfParents, PlacedRow, Slice } from '../store/read-slice.ts';
import { cursorOf, placeIn } from './cursors.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { builder } from './schema-builder.ts';
import { textsOf } from './value-bytes.ts';

type Types = typeof builder.$inferSchemaTypes;

const FIRST_DEFAULT = 20;
const FIRST_MAX = 100;

export interface PageArgs {
  first?: number | null | undefined;
  after?: string | null | undefined;
}

/** It reads all rows of its list. */
const COUNT_COST = 10;

/** A page of a list, with the whole list's count where it is asked for. */
export function connectionType<Shape>(name: string, type: ObjectRef<Types, Shape>) {
  return builder.connectionObject({
    type,
    name: `${name}Connection`,
    fields: (t) => ({
      totalCount: t.int({
        description: 'Of all pages.',
        complexity: COUNT_COST,
        extensions: { isOnceForList: true },
        resolve: ({ countAll = uncounted }) => countAll(),
      }),
    }),
  });
}

function uncounted(): never {
  throw new Defect('a list that is not counted shows its count');
}

/** The arguments of every list. */
export const pageArgs = builder.args((t) => ({
  first: t.int({ defaultValue: FIRST_DEFAULT, description: `From 0 to ${FIRST_MAX}.` }),
  after: t.string({ description: 'The `endCursor` of the previous page.' }),
}));

/** The cost of a list: its entries, each with what it costs to read one, and what one read costs more. */
export function costOfList(entryCost = 1, readCost = 1) {
  return ({ first }: PageArgs) => {
    const entries = Math.max(0, first ?? FIRST_DEFAULT);
    return { field: readCost + entries * entryCost, multiplier: entries };
  };
}

/** A list of rows and how one is shown. */
export interface ShownList<Row, Shown> {
  /** Of the cursors. */
  name: string;
  list: List;
  shown: (row: Row) => Shown;
}

/** Those of the environment. */
export async function rootPage<Row, Shown>(
  context: GraphqlContext,
  { list, ...shownAs }: ShownList<Row, Shown>,
  args: PageArgs,
) {
  const slice = sliceOf(shownAs.name, args);
  const rows = (await context.loaders.rows.load({ list, slice })) as PlacedRow<Row>[];
  await turnOf(context, rows);
  return pageOf(rows, slice, { ...shownAs, countAll: () => context.loaders.rowCounts.load(list) });
}

/** The part of a list that a parent has; those of several parents are read together. */
export async function parentPage<Row, Shown>(
  context: GraphqlContext,
  { list, column, parentId, ...shownAs }: ShownList<Row, Shown> & ListOfParents & { parentId: string },
  args: PageArgs,
) {
  const slice = sliceOf(shownAs.name, args);
  const of = { list, column };
  const rows = (await context.loaders.parentRows.load({ of, slice, parentId })) as PlacedRow<Row>[];
  await turnOf(context, rows);
  const countAll = () => context.loaders.parentCounts.load({ of, parentId });
  return pageOf(rows, slice, { ...shownAs, countAll });
}

/** To show a row takes as long as to make some values; its JSON is parsed. */
const VALUES_OF_ROW = 5;
const CHARS_OF_VALUE = 100;

/** The pages of many parents are read together, and shown one after the other. */
function turnOf({ pace }: GraphqlContext, rows: readonly object[]): Promise<void> | undefined {
  const chars = rows.reduce((sum, row) => sum + textsOf(row), 0);
  return pace.turn(rows.length * VALUES_OF_ROW + chars / CHARS_OF_VALUE);
}

/** Throws Rejected. */
export function sliceOf(name: string, { first, after }: PageArgs): Slice {
  const entries = first ?? FIRST_DEFAULT;
  if (entries < 0 || entries > FIRST_MAX) {
    const message = `\`first\` must be a whole number from 0 to ${FIRST_MAX}.`;
    throw new Rejected('invalid_request', message, { param: 'first' });
  }
  return { first: entries, after: after ? placeIn(name, after) : undefined };
}

/** The rows may have one too many: then another page follows. */
export function pageOf<Row, Shown>(
  rows: readonly PlacedRow<Row>[],
  { first, after }: Slice,
  { name, shown, countAll }: Omit<ShownList<Row, Shown>, 'list'> & { countAll: () => Promise<number> },
) {
  const edges = rows.slice(0, first).map((row) => ({ cursor: cursorOf(name, row), node: shown(row) }));
  const pageInfo = {
    hasNextPage: rows.length > first,
    hasPreviousPage: after !== undefined,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
  return { edges, pageInfo, countAll };
}
