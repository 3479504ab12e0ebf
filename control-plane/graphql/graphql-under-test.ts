import { type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { expect } from 'vitest';
import type { ApiUnderTest, CallOptions } from '../api-under-test.ts';
import { graphqlSchema } from './graphql-schema.ts';

export interface Asked {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it asked for
  data: any;
  errors: Array<{ message: string; path?: Array<string | number>; code: string; param?: string }>;
}

/** The response to a query: status 200, whatever is wrong with the query. */
export async function ask(
  api: ApiUnderTest,
  query: string,
  { variables, operationName, ...options }: AskOptions = {},
): Promise<Asked> {
  const body = { query, ...(variables ? { variables } : {}), ...(operationName ? { operationName } : {}) };
  const response = await api.call('POST', '/graphql', { ...options, body });
  expect(response.status, response.text).toBe(200);
  const { data, errors = [] } = response.body;
  const shown = errors.map(({ message, path, extensions: { code, param } }: Shown) => ({
    message,
    code,
    ...(path ? { path } : {}),
    ...(param ? { param } : {}),
  }));
  return { data, errors: shown };
}

interface AskOptions extends Omit<CallOptions, 'body'> {
  variables?: Record<string, unknown>;
  operationName?: string;
}

interface Shown {
  message: string;
  path?: Array<string | number>;
  extensions: { code: string; param?: string };
}

/** What was asked for, where nothing may be wrong. */
export async function dataOf(...given: Parameters<typeof ask>): Promise<Asked['data']> {
  const { data, errors } = await ask(...given);
  expect(errors).toEqual([]);
  return data;
}

/** All values of an object of the REST API, without what it leads to. */
export function members(type: string): string {
  const fields = Object.values((graphqlSchema().getType(type) as GraphQLObjectType).getFields());
  const shown = fields.flatMap((field) => {
    if (field.extensions.isMember !== true) return [];
    const named = getNamedType(field.type);
    return isLeafType(named) ? [field.name] : [`${field.name} { ${members(named.name)} }`];
  });
  return shown.join(' ');
}

/** An object of the REST API as GraphQL shows it: decimals as text, and null for what is not there. */
export function expectSame(graph: unknown, rest: unknown): void {
  if (Array.isArray(graph)) {
    expect(graph).toHaveLength((rest as unknown[]).length);
    for (const [at, one] of graph.entries()) expectSame(one, (rest as unknown[])[at]);
  } else if (typeof graph === 'object' && graph !== null) {
    for (const [name, value] of Object.entries(graph))
      expectSame(value, (rest as Record<string, unknown>)[name]);
  } else if (typeof graph === 'string' && typeof rest === 'number') expect(Number(graph)).toBe(rest);
  else expect(graph ?? undefined).toEqual(rest ?? undefined);
}
