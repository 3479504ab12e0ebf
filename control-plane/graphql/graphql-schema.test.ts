import { readFileSync } from 'node:fs';
import { buildClientSchema, getIntrospectionQuery, graphqlSync, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { graphqlSchema, printedSchema } from './graphql-schema.ts';

describe('the schema', () => {
  it('is the committed schemas/schema.graphql: after a change `npm run graphql` renews that', () => {
    const committed = readFileSync('schemas/schema.graphql', 'utf8');
    expect(committed === printedSchema(), 'schemas/schema.graphql is out of date: npm run graphql').toBe(
      true,
    );
  });

  it('makes the same schema for a client by introspection', () => {
    const { data } = graphqlSync({ schema: graphqlSchema(), source: getIntrospectionQuery() });
    const client = buildClientSchema(data as never);
    expect(`${printSchema(client)}\n`).toBe(printedSchema());
  });
});
