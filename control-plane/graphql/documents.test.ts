import { readFileSync } from 'node:fs';
import { parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { COST_OF_REQUEST } from './graphql.ts';
import { graphqlSchema } from './graphql-schema.ts';
import { COST_MAX, checkLimits, DEPTH_MAX, FIELDS_MAX, INTROSPECTED_MAX } from './query-limits.ts';
import { FAILURES_MAX, READ_MIB_MAX, RESPONSE_MIB_MAX } from './response-bytes.ts';

const page = readFileSync('docs/use/graphql.md', 'utf8');
const queries = [...page.matchAll(/```graphql\n([\s\S]*?)```/g)].map(([, query = '']) => query);

it('the queries of the page are valid and within the limits', () => {
  expect(queries.length).toBeGreaterThan(2);
  for (const query of queries) {
    const document = parse(query);
    expect(validate(graphqlSchema(), document)).toEqual([]);
    checkLimits(graphqlSchema(), { document, variables: { customer: 'acme' } });
  }
});

it('the page says the limits', () => {
  const said = (text: string, limit: number) =>
    expect(page).toContain(`${text} | ${limit.toLocaleString('en')} |`);
  said('levels of fields within fields', DEPTH_MAX);
  said('fields and aliases, those of a fragment wherever it is used', FIELDS_MAX);
  said('cost: objects that the query can return, each list with its `first`', COST_MAX);
  said('values of introspection', INTROSPECTED_MAX);
  const counted = 'MiB of the response, each value as 32 bytes more than its name and text';
  said(counted, RESPONSE_MIB_MAX);
  said('MiB of the rows of its lists', READ_MIB_MAX);
  said('fields that fail', FAILURES_MAX);
  expect(page).toContain(`each full ${COST_OF_REQUEST.toLocaleString('en')} of cost`);
});
