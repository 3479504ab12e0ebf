/** Reading with GraphQL. Its types are in schemas/schema.graphql. */
import { type Static, Type } from 'typebox';
import { defineRoute } from '../route.ts';
import { AnyName, Nothing } from './fields.ts';

/** Bounds what is kept of parsed queries. */
const QUERY_CHARS_MAX = 16_384;
/** Variables are read once for each argument that has them, and keys of what is read are made of them. */
const BODY_BYTES_MAX = 65_536;

export const GraphqlRequest = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: QUERY_CHARS_MAX,
      description: 'The document. There are queries only: changes are made with the REST API.',
    }),
    operationName: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'Of the operation to execute, if the document has several.',
      }),
    ),
    variables: Type.Optional(Type.Record(AnyName, Type.Unknown())),
  },
  { 'x-type-rule': 'must be an object with one operation: the limit is 1 operation per request' },
);
export type GraphqlRequest = Static<typeof GraphqlRequest>;

const GraphqlError = Type.Object({
  message: Type.String(),
  path: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Integer()]))),
  locations: Type.Optional(Type.Array(Type.Object({ line: Type.Integer(), column: Type.Integer() }))),
  extensions: Type.Object({
    code: Type.String({ description: 'One of the error codes of this API.' }),
    param: Type.Optional(Type.String()),
    details: Type.Optional(Type.Record(AnyName, Type.Unknown())),
  }),
});

export const GraphqlResponse = Type.Object({
  data: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      description: 'What was asked for. A field that has an error is null.',
    }),
  ),
  errors: Type.Optional(Type.Array(GraphqlError, { description: 'Left out when there are none.' })),
});
export type GraphqlResponse = Static<typeof GraphqlResponse>;

const page = {
  method: 'GET',
  plane: 'control',
  access: 'public',
  params: Nothing,
  query: Nothing,
  status: 200,
} as const;

export const graphqlRoutes = {
  'graphql.query': defineRoute({
    method: 'POST',
    path: '/graphql',
    plane: 'control',
    access: 'any_key',
    isRead: true,
    ignoresIdempotencyKey: true,
    summary: 'Query with GraphQL',
    description:
      'Executes one query. A field needs the scope of the operation that shows the same; without it the ' +
      'field is null and has an error with the code `insufficient_scope`. Errors of a query are in ' +
      '`errors`, with status 200. The types are in schemas/schema.graphql and can be introspected.',
    params: Nothing,
    query: Nothing,
    body: GraphqlRequest,
    bodyBytesMax: BODY_BYTES_MAX,
    example: { query: '{ workspace { id name } }' },
    status: 200,
    response: GraphqlResponse,
    errors: ['query_too_complex'],
  }),
  'graphql.page': defineRoute({
    ...page,
    path: '/graphql',
    summary: 'Show a page to write queries',
    response: Type.String(),
    mediaTypes: ['text/html'],
    errors: [],
  }),
  'graphql.asset': defineRoute({
    ...page,
    path: '/graphql/{asset}',
    summary: 'Retrieve a file of the page to write queries',
    params: Type.Object({ asset: Type.String({ minLength: 1, maxLength: 128 }) }),
    response: Type.String(),
    mediaTypes: ['text/css', 'text/javascript', 'image/png'],
    errors: ['not_found'],
  }),
};
