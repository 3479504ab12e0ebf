import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { Rejected } from '../../schemas/failures.ts';
import { querySize } from './query-size.ts';

/** Fields within fields. */
export const DEPTH_MAX = 8;
/** Fields and aliases, those of a fragment wherever it is used. */
export const FIELDS_MAX = 500;
/** Objects that a query can return: each list counts as often as its `first`, and long reads for more. */
export const COST_MAX = 10_000;
/** Values of introspection. The query that tools send has two thirds of them. */
export const INTROSPECTED_MAX = 50_000;

/** Of variables; each error has a text of its own. */
const ERRORS_MAX = 100;

export interface RequestedOperation {
  document: DocumentNode;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
}

/**
 * The cost of an operation of a valid document, before anything of it is read, and what is wrong with its
 * variables: then it is not executed. Throws Rejected `query_too_complex`, and what is wrong with an
 * argument.
 */
export function checkLimits(
  schema: GraphQLSchema,
  { document, operationName, variables }: RequestedOperation,
): { cost: number; errors: readonly GraphQLError[] } {
  const operation = operationOf(document, operationName);
  // The execution says that it is not there, and reads nothing.
  if (!operation) return { cost: 0, errors: [] };
  const definitions = operation.variableDefinitions ?? [];
  const { errors, coerced } = getVariableValues(schema, definitions, variables ?? {}, {
    maxErrors: ERRORS_MAX,
  });
  if (errors) return { cost: 0, errors };
  const fragments = fragmentsOf(document);
  const { depth, fields, cost, introspected } = querySize({
    schema,
    operation,
    fragments,
    variables: coerced,
  });
  if (depth > DEPTH_MAX) throw tooComplex(`${depth} levels deep`, `${DEPTH_MAX} levels`, 'depth');
  if (fields > FIELDS_MAX) throw tooComplex(`of ${fields} fields`, `${FIELDS_MAX} fields`, 'fields');
  if (!(cost <= COST_MAX)) throw tooComplex(`of cost ${cost}`, `${COST_MAX}`, 'cost');
  if (!(introspected <= INTROSPECTED_MAX))
    throw tooComplex(
      `for ${introspected} values of introspection`,
      `${INTROSPECTED_MAX} values`,
      'introspection',
    );
  return { cost, errors: [] };
}

function operationOf(
  { definitions }: DocumentNode,
  operationName: string | null | undefined,
): OperationDefinitionNode | undefined {
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operationName == null) return operations.length === 1 ? operations[0] : undefined;
  return operations.find(({ name }) => name?.value === operationName);
}

function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((one) => [one.name.value, one]));
}

function tooComplex(is: string, limit: string, what: string): Rejected {
  const remedy = 'Ask for less, or in several requests.';
  const message = `The query is ${is}; the limit is ${limit}. ${remedy}`;
  return new Rejected('query_too_complex', message, { details: { limit: what } });
}
