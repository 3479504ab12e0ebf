import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import * as queries from './queries.ts';

const schema = buildSchema(readFileSync('schemas/schema.graphql', 'utf8'));
const { namesQuery, ...fixed } = queries;
const all = { ...fixed, NAMES: namesQuery(3) };
const documents = Object.entries(all).map(([name, { document }]) => [name, document] as const);

/** Red when a field that the console shows is renamed. */
it.each(documents)('%s is a query of the schema', (_, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([]);
});
