import { getIntrospectionQuery, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { graphqlSchema } from './graphql-schema.ts';
import { checkLimits, INTROSPECTED_MAX } from './query-limits.ts';
import { querySize } from './query-size.ts';

/*
 * Mutants this suite catches: introspection that counts nothing; a list of introspection that counts once; a
 * wrong argument that ends the measurement without an error; a list of names that counts once.
 */
const schema = graphqlSchema();

function check(query: string, variables: Record<string, unknown> = {}) {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  return checkLimits(schema, { document, variables }).errors;
}

function sizeOf(query: string) {
  const [operation] = parse(query).definitions;
  return querySize({ schema, operation: operation as never, fragments: new Map(), variables: {} });
}

const costOf = (query: string) => sizeOf(query).cost;
const list = (count: number, write: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => write(at)).join(' ');
const rejected = (code: string, more: object = {}) =>
  expect.objectContaining({ rejection: expect.objectContaining({ code, ...more }) });
const tooComplex = (limit: string) => rejected('query_too_complex', { details: { limit } });

describe('introspection', () => {
  const options = {
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  };

  it('of the whole schema is within the limits, as all tools send it', () => {
    expect(check(getIntrospectionQuery())).toEqual([]);
    expect(check(getIntrospectionQuery(options))).toEqual([]);
  });

  it('by aliases at three levels is rejected at once', () => {
    const startedMs = performance.now();
    const bombs = [
      `{ __schema { ${list(60, (at) => `a${at}: types { ...T }`)} } }
       fragment T on __Type { ${list(20, (at) => `f${at}: fields { ...F }`)} }
       fragment F on __Field { ${list(20, (at) => `g${at}: type { name }`)} }`,
      `{ __schema { types { ...T } } }
       fragment T on __Type { ${list(8, (at) => `f${at}: fields { args { type { ...N } } }`)} }
       fragment N on __Type { ${list(8, (at) => `e${at}: fields { name description }`)} }`,
      `{ ${list(8, (at) => `s${at}: __type(name: "Query") { fields { type { fields { ...F } } } }`)} }
       fragment F on __Field { ${list(12, (at) => `n${at}: args { name description }`)} }`,
    ];
    for (const bomb of bombs) expect(() => check(bomb)).toThrow(rejected('query_too_complex'));
    expect(() => check(bombs[1] ?? '')).toThrow(tooComplex('introspection'));
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    expect(sizeOf('{ __schema { types { fields { name } } } }').introspected).toBeLessThan(INTROSPECTED_MAX);
  });
});

describe('an argument', () => {
  const query = (directive: string) => `query ($id: ID = "x") {
    bad: customer(id: "z") ${directive} { usageEvents(meterKey: $id) { asOf } }
    customers(first: 100) { nodes { subscriptions(first: 100) { nodes { plan { name } } } } } }`;

  it('that is wrong switches no limit off, skipped or not', () => {
    for (const directive of ['', '@skip(if: true)', '@include(if: false)']) {
      expect(() => check(query(directive), { id: null })).toThrow('must not be null');
      expect(() => check(query(directive), { id: 'x' })).toThrow(tooComplex('cost'));
    }
    const [error] = check('query ($n: Int!) { customers(first: $n) { totalCount } }', { n: 'x' });
    expect(error?.message).toContain('Int cannot represent');
  });

  it('of many wrong values is wrong a hundred times, not more', () => {
    const filter =
      'query ($f: [PropertyFilter!]) { meter(key: "a") { usage(from: "a", to: "b", filter: $f) { total } } }';
    const errors = check(filter, { f: Array.from({ length: 20_000 }, () => 1) });
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)?.message).toContain('error limit reached');
  });

  it('holds a text, wherever it is written', () => {
    for (const text of ['\\u0000', 'a\\u0000b']) {
      const faulty = rejected('invalid_request', { param: 'q' });
      expect(() => check(`{ customers(q: "${text}") { totalCount } }`)).toThrow(faulty);
      const keys = `{ customer(id: "a") { entitlements(featureKeys: ["a", "${text}"]) { allowed } } }`;
      expect(() => check(keys)).toThrow(rejected('invalid_request', { param: 'featureKeys' }));
    }
    expect(() => check('query ($q: String) { customers(q: $q) { totalCount } }', { q: '\uD800' })).toThrow();
    expect(check('{ customers(q: "\\u{1F600}") { totalCount } }')).toEqual([]);
  });
});

describe('the cost', () => {
  it('of a count is that of a count, of a list without entries too', () => {
    expect(costOf('{ customers(first: 0) { totalCount } }')).toBe(11);
    expect(costOf('{ customers(first: 7) { nodes { subscriptions(first: 0) { totalCount } } } }')).toBe(85);
  });

  it('of the rows of a list is the same whatever is shown of them', () => {
    expect(costOf('{ customers(first: 50) { edges { cursor } } }')).toBe(51);
    expect(costOf('{ customers(first: 50) { pageInfo { endCursor } } }')).toBe(51);
    expect(costOf('{ customers(first: 50) { nodes { id name } edges { node { id } } } }')).toBe(51);
  });

  it('of usage events is that of a read of its own', () => {
    const events = (first: number) =>
      costOf(`{ customer(id: "a") { usageEvents(meterKey: "m", first: ${first}) { nodes { id } } } }`);
    expect(events(0)).toBe(101);
    expect(events(100)).toBe(601);
  });

  it('of entitlements grows with the names', () => {
    const decisions = (names: number) =>
      costOf(`{ customer(id: "a") { entitlements(featureKeys: [${list(names, () => '"a"')}]) { limit } } }`);
    expect(decisions(1)).toBe(11);
    expect(decisions(100)).toBe(101);
  });

  it('of what has no bound of a name is more', () => {
    expect(costOf('{ customer(id: "a") { a: metadata b: metadata name } }')).toBe(11);
    expect(costOf('{ webhookEvent(id: "a") { id data } }')).toBe(10);
    const head = '{ webhookDelivery(id: "a") { attempts {';
    expect(costOf(`${head} number } } }`)).toBe(21);
    expect(costOf(`${head} requestHead responseHead responseBody } } }`)).toBe(21 + 150);
    expect(costOf('{ auditLog(first: 1) { nodes { before after } } }')).toBe(21);
  });
});
