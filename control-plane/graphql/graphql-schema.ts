import { type GraphQLSchema, printSchema } from 'graphql';
import './administration.ts';
import './analytics.ts';
import './catalogue.ts';
import './customers.ts';
import './usage.ts';
import './webhooks.ts';
import { boundResponses } from './response-bytes.ts';
import { builder } from './schema-builder.ts';

let schema: GraphQLSchema | undefined;

/** The whole schema; each of the files above adds the fields of its area. */
export function graphqlSchema(): GraphQLSchema {
  schema ??= boundResponses(builder.toSchema());
  return schema;
}

/** As it is committed in schemas/. */
export function printedSchema(): string {
  return `${printSchema(graphqlSchema())}\n`;
}
