import { expect } from 'vitest';
import type { ApiUnderTest, CallOptions } from '../api-under-test.ts';

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
