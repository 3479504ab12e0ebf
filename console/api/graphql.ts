import { useMemo } from 'preact/hooks';
import { type Read, type ReadOptions, useRead } from './reads.ts';
import { ApiError } from './send.ts';

/** A query of the console with the shape of its result. */
export interface GraphqlQuery<T, V extends Record<string, unknown> = Record<string, never>> {
  document: string;
  /** Never there: it holds the types. */
  shape?: (variables: V) => T;
}

interface GraphqlBody<T> {
  data?: T | null;
  errors?: ReadonlyArray<{ message: string; extensions?: { code?: string } }>;
}

/** Status of an error that left the rest of a result whole. */
const PARTLY = 200;

/**
 * Reads by GraphQL; undefined as a query reads nothing yet. What the key may not see is null, and `error`
 * then says what.
 */
export function useQuery<T, V extends Record<string, unknown>>(
  query: GraphqlQuery<T, V> | undefined,
  variables: V,
  options?: ReadOptions,
): Read<T> {
  const body = query && { query: query.document, variables };
  const request = body && { method: 'POST', path: '/graphql', body };
  const read = useRead<GraphqlBody<T>>(request, options);
  const { data: result, error } = read;
  const partly = useMemo(() => (result?.errors ? errorOf(result.errors) : undefined), [result]);
  return { ...read, data: result?.data ?? undefined, error: error ?? partly };
}

function errorOf(errors: NonNullable<GraphqlBody<unknown>['errors']>): ApiError {
  const messages = [...new Set(errors.map(({ message }) => message))];
  const code = errors[0]?.extensions?.code ?? 'unknown';
  return new ApiError(PARTLY, { code, message: `Not all of this is shown: ${messages.join(' ')}` });
}
