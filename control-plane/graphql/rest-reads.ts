import type { Input, Output, Route } from '../../schemas/route.ts';
import { type KeyedOperationId, ROUTES, type Routes } from '../../schemas/routes.ts';
import { type Check, checkOf } from '../http/json-schema.ts';
import { withOtherMode } from '../http/other-mode.ts';
import type { Handler, HandlerInput } from '../http/request-context.ts';
import type { GraphqlContext } from './graphql-context.ts';

type ReadId = Exclude<KeyedOperationId, 'graphql.query'>;

type Given<T> = { [Name in keyof T]?: T[Name] | null | undefined };

/** The arguments of a field that are those of an operation, checked as that checks them; nulls are absent. */
export function checkedQuery<Id extends ReadId>(
  operationId: Id,
  args: Given<Input<Routes[Id]>['query']>,
): Input<Routes[Id]>['query'] {
  const { properties } = (ROUTES[operationId] as Route).query;
  return checked(`${operationId} query`, (ROUTES[operationId] as Route).query, present(args, properties));
}

/** The response of an operation of the REST API that reads. Throws Rejected as that does. */
export async function readAs<Id extends ReadId>(
  context: GraphqlContext,
  operationId: Id,
  {
    params,
    query,
  }: { params?: Given<Input<Routes[Id]>['params']>; query?: Given<Input<Routes[Id]>['query']> },
): Promise<Output<Routes[Id]>> {
  const route: Route = ROUTES[operationId];
  const input = {
    params: checked<object>(
      `${operationId} params`,
      route.params,
      present(params ?? {}, route.params.properties),
    ),
    query: checkedQuery(operationId, query ?? {}),
    body: undefined,
    bodyText: '',
  };
  const handler = context.deps.handlers[operationId] as unknown as Handler<Route>;
  // Those of the request are about the response to the query, such as `Accept`.
  const reading = { ...context, headers: {} };
  try {
    return (await context.inTurn(async () => handler(reading, input as HandlerInput<Route>))) as Output<
      Routes[Id]
    >;
  } catch (error) {
    throw await withOtherMode(context.db, context, error, input);
  }
}

const checks = new Map<string, Check>();

/** The value, which is then of the type of the schema. */
function checked<Value>(name: string, schema: Route['query'], value: object): Value {
  const check = checks.get(name) ?? checkOf(schema);
  checks.set(name, check);
  check(value);
  return value as Value;
}

/** Members that the schema names and that were given. */
function present(args: object, properties: object): Record<string, unknown> {
  const given = Object.entries(args).filter(([name, value]) => name in properties && value != null);
  return Object.fromEntries(given);
}
