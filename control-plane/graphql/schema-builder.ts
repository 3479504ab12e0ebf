import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import { type GraphQLNamedType, getNamedType, isLeafType } from 'graphql';
import { Defect, Rejected } from '../../schemas/failures.ts';
import type { Route } from '../../schemas/route.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import { EVERY_SCOPE } from '../../schemas/scopes.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { printDecimal, printFeatureValue, readDecimalLiteral, readDecimalValue } from './scalar-values.ts';

interface SchemaTypes {
  Context: GraphqlContext;
  /** Counts what the whole list has, when it is asked for. */
  Connection: { countAll?: () => Promise<number> };
  /** A field needs what this operation of the REST API needs, which shows the same. */
  AuthScopes: { as: OperationId };
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  /** What fails, or may not be read, is null and leaves its neighbours alone. */
  DefaultFieldNullability: true;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: string };
    Decimal: { Input: string; Output: string };
    FeatureValue: { Input: string; Output: string | boolean };
    JSON: { Input: unknown; Output: unknown };
  };
}

/** All types are made with it: refs first, then the fields of each area. */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ScopeAuthPlugin, RelayPlugin, ComplexityPlugin],
  scopeAuth: {
    authScopes: (context) => ({ as: (operationId) => mayRequest(context, operationId) }),
    unauthorizedError: (_parent, _context, _info, { failure }) =>
      new Rejected('insufficient_scope', `This field needs the scope ${scopeOf(failure)}.`),
  },
  relay: {
    cursorType: 'String',
    edgesFieldOptions: { nullable: false, complexity: { field: 0, multiplier: 1 } },
    nodeFieldOptions: { nullable: false, complexity: 0 },
    nodesOnConnection: { complexity: { field: 0, multiplier: 1 } },
    pageInfoFieldOptions: { nullable: false, complexity: 0 },
    hasNextPageFieldOptions: { nullable: false },
    hasPreviousPageFieldOptions: { nullable: false },
    cursorFieldOptions: { nullable: false },
  },
  // The cost is the number of objects; the values in them cost nothing, unless they have no bound of a name.
  complexity: {
    disabled: true,
    fieldComplexity: (_args, _context, { type }) => costOfType(getNamedType(type)),
  },
});

/** A text of some KiB, or a JSON value, is as dear as so many objects. */
export const LARGE_VALUE_COST = 5;

function costOfType(type: GraphQLNamedType): number {
  if (type.name === 'JSON') return LARGE_VALUE_COST;
  return isLeafType(type) ? 0 : 1;
}

builder.scalarType('DateTime', {
  description: 'A time of RFC 3339, shown in UTC with milliseconds.',
  serialize: String,
});
builder.scalarType('Decimal', {
  description: 'An exact decimal number, as a string.',
  serialize: printDecimal,
  parseValue: readDecimalValue,
  parseLiteral: readDecimalLiteral,
});
builder.scalarType('FeatureValue', {
  description: 'What is given of a feature: true or false of a boolean one, else a decimal as a string.',
  serialize: printFeatureValue,
});
builder.scalarType('JSON', {
  description: 'A JSON value as it is stored; its numbers keep all their digits.',
  serialize: (value) => value,
});

builder.queryType({ description: 'What the API key may read, in its environment.' });

/** Whether the key has the scope that the operation needs. */
function mayRequest({ scopes }: Pick<RequestContext, 'scopes'>, operationId: OperationId): boolean {
  const { access }: Route = ROUTES[operationId];
  if (access === 'public' || access === 'any_key' || access === 'publishable') return true;
  return scopes.includes(access) || scopes.includes(EVERY_SCOPE);
}

/** A field names one operation, in a list of what would do. */
function scopeOf(failure: object): string {
  const { failures = [] } = failure as { failures?: Array<{ parameter?: OperationId }> };
  const operationId = failures[0]?.parameter;
  if (operationId === undefined) throw new Defect('a field was denied that needs no operation');
  return ROUTES[operationId].access;
}
