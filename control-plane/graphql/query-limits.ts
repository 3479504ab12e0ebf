import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { Rejected } from '../../schemas/failures.ts';

/** Fields within fields. */
export const DEPTH_MAX = 8;
/** Fields and aliases, those of a fragment wherever it is used. */
export const FIELDS_MAX = 500;
/** Objects that a query can return: each list counts as often as its `first`, and long reads for more. */
export const COST_MAX = 10_000;

export interface RequestedOperation {
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
}

/** Throws Rejected `query_too_complex`. Of a valid document, before anything of it is read. */
export function checkLimits(schema: GraphQLSchema, requested: RequestedOperation): void {
  const { depth, breadth, complexity } = sizeOf(schema, requested);
  if (depth > DEPTH_MAX) throw tooComplex(`${depth} levels deep`, `${DEPTH_MAX} levels`, 'depth');
  if (breadth > FIELDS_MAX) throw tooComplex(`of ${breadth} fields`, `${FIELDS_MAX} fields`, 'fields');
  if (!(complexity <= COST_MAX)) throw tooComplex(`of cost ${complexity}`, `${COST_MAX}`, 'cost');
}

function sizeOf(schema: GraphQLSchema, { document, operationName, variables }: RequestedOperation) {
  const operation = operationOf(document, operationName);
  if (!operation) return { depth: 0, breadth: 0, complexity: 0 };
  const definitions = document.definitions.filter((one) => one.kind !== Kind.OPERATION_DEFINITION);
  try {
    const only = { ...document, definitions: [operation, ...definitions] };
    return complexityFromQuery(only, { schema, variables: variables ?? {} });
  } catch (error) {
    // A variable of another type: the execution says what is wrong with it, and reads nothing.
    if (error instanceof GraphQLError) return { depth: 0, breadth: 0, complexity: 0 };
    throw error;
  }
}

function operationOf(
  { definitions }: DocumentNode,
  operationName: string | null | undefined,
): OperationDefinitionNode | undefined {
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  return operationName == null ? operations[0] : operations.find(({ name }) => name?.value === operationName);
}

function tooComplex(is: string, limit: string, what: string): Rejected {
  const remedy = 'Ask for less, or in several requests.';
  const message = `The query is ${is}; the limit is ${limit}. ${remedy}`;
  return new Rejected('query_too_complex', message, { details: { limit: what } });
}
