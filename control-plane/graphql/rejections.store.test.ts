import { describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { ask, dataOf } from './graphql-under-test.ts';

/*
 * What is rejected, before anything is read.
 *
 * Mutants this suite catches: fragments counted once; aliases counted once; variables left out of the cost;
 * the first operation of a document measured in place of the named one.
 */
const api = await apiOfThisFile();

const nested = (levels: number) => {
  const names = ['customers', 'nodes', 'subscriptions', 'nodes', 'customer', 'subscriptions', 'nodes'];
  const opened = Array.from({ length: levels - 1 }, (_, at) => names[at] ?? (at % 2 ? 'plan' : 'customer'));
  return `{ ${opened.join(' { ')} { id ${'} '.repeat(levels)}`;
};
const aliases = (count: number) =>
  `{ ${Array.from({ length: count }, (_, at) => `w${at}: workspace { id }`).join(' ')} }`;
/** Each fragment contains the next one twice. */
const bomb = (levels: number) => {
  const fragments = Array.from({ length: levels }, (_, at) => {
    const next = at + 1 < levels ? `...f${at + 1} ...f${at + 1}` : 'name';
    return `fragment f${at} on Workspace { id ${next} }`;
  });
  return `{ workspace { ...f0 } } ${fragments.join(' ')}`;
};

describe('a query', () => {
  it('of eight levels is served, and one of nine is rejected with the limit', async () => {
    expect((await ask(api, nested(8))).errors).toEqual([]);
    const { data, errors } = await ask(api, nested(9));
    expect(data).toBeUndefined();
    const message =
      'The query is 9 levels deep; the limit is 8 levels. Ask for less, or in several requests.';
    expect(errors).toEqual([{ code: 'query_too_complex', message }]);
  });

  it('of many aliases is rejected with the limit', async () => {
    expect((await ask(api, aliases(250))).errors).toEqual([]);
    const { errors } = await ask(api, aliases(251));
    expect(errors).toMatchObject([{ code: 'query_too_complex' }]);
    expect(errors[0]?.message).toContain('of 502 fields; the limit is 500 fields');
  });

  it('of fragments within fragments is rejected at once', async () => {
    const startedMs = performance.now();
    expect((await ask(api, bomb(60))).errors).toMatchObject([{ code: 'query_too_complex' }]);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('costs the objects that it can return, by the values of its variables', async () => {
    const query = `query of($n: Int!) {
      customers(first: $n) { nodes { subscriptions(first: 99) { nodes { id } } } } }`;
    expect((await ask(api, query, { variables: { n: 99 } })).errors).toEqual([]);
    const { errors } = await ask(api, query, { variables: { n: 100 } });
    expect(errors).toMatchObject([{ code: 'query_too_complex' }]);
    expect(errors[0]?.message).toContain('of cost 10101; the limit is 10000');
  });

  it('is measured as the operation that is named', async () => {
    const both = `query small { workspace { id } } query large ${nested(9)}`;
    expect((await ask(api, both, { operationName: 'small' })).errors).toEqual([]);
    const { errors } = await ask(api, both, { operationName: 'large' });
    expect(errors).toMatchObject([{ code: 'query_too_complex' }]);
    expect((await ask(api, both)).errors).toMatchObject([{ code: 'invalid_request' }]);
  });

  it('that is no query gets a sentence about itself', async () => {
    const wrong: Record<string, string> = {
      '{': 'Syntax Error',
      '{ nothing }': 'Cannot query field "nothing" on type "Query"',
      '{ customer { id } }': 'argument "id" of type "ID!" is required',
      'mutation { createPlan { id } }': 'not configured to execute mutation',
      'subscription { usage { id } }': 'not configured to execute subscription',
      '{ customers(first: "x") { totalCount } }': 'Int cannot represent',
      'query ($n: Int) { customers(first: $m) { totalCount } }': 'Variable "$m" is not defined',
      '{ customers(q: "a\\u0000") { totalCount } }': '`q` contains U+0000',
      '{ customers(q: "\\uD800") { totalCount } }': 'Invalid Unicode escape sequence',
      [`{ customer(id: ${'['.repeat(8_000)}`]: 'brackets 65 deep; the limit is 64',
      [`{ ${'\n'.repeat(2_000)} workspace { id } }`]: 'more than 2000 lines',
      ['{a'.repeat(8_000)]: 'brackets 65 deep; the limit is 64',
      [`{ ${'a '.repeat(200)} }`]: 'Cannot query field "a"',
    };
    for (const [query, message] of Object.entries(wrong)) {
      const { data, errors } = await ask(api, query);
      expect(data ?? null).toBeNull();
      expect(errors[0]).toMatchObject({ code: 'invalid_request' });
      expect(errors[0]?.message).toContain(message);
    }
  });

  it('is introspected, but not without end', async () => {
    const data = await dataOf(
      api,
      '{ __schema { types { fields { type { ofType { ofType { name } } } } } } }',
    );
    expect(data.__schema.types.length).toBeGreaterThan(50);
    const levels = 'fields { type { '.repeat(5);
    const endless = `{ __schema { types { ${levels} name ${'} } '.repeat(5)} } }`;
    expect((await ask(api, endless)).errors).toMatchObject([{ code: 'invalid_request' }]);
  });

  it('has a page of 0 to 100 entries, and a cursor of its own list', async () => {
    for (const first of [-1, 101]) {
      const { data, errors } = await ask(api, `{ customers(first: ${first}) { nodes { id } } }`);
      expect(data).toEqual({ customers: null });
      expect(errors).toMatchObject([{ code: 'invalid_request', param: 'first', path: ['customers'] }]);
    }
    const { auditLog } = await dataOf(api, '{ auditLog { edges { cursor } } }');
    const foreign = auditLog.edges[0]?.cursor;
    const made = Buffer.from(JSON.stringify(['auditLog', 1, 'cus_a'])).toString('base64url');
    for (const [list, cursor] of [
      ['customers', foreign],
      ['auditLog', made],
      ['plans', 'x'],
      ['plans', Buffer.from(JSON.stringify(['plans', 1, 'a', 'a'.repeat(500)])).toString('base64url')],
      ['plans', ''],
    ]) {
      const { errors } = await ask(
        api,
        `{ ${list}(after: ${JSON.stringify(cursor ?? 'x')}) { totalCount } }`,
      );
      expect(errors).toMatchObject(cursor === '' ? [] : [{ code: 'invalid_request', param: 'after' }]);
    }
  });
});

describe('a request', () => {
  const send = (body: unknown, options = {}) => api.call('POST', '/graphql', { ...options, body });

  it('has one operation', async () => {
    const response = await send([{ query: '{ workspace { id } }' }, { query: '{ workspace { id } }' }]);
    expectRejection(response, 'invalid_request');
    expect(response.body.error.message).toContain('the limit is 1 operation per request');
  });

  it('has a query of bounded length, and a body of bounded size', async () => {
    expectRejection(await send({}), 'invalid_request', 'query');
    expectRejection(await send({ query: `{ ${'a'.repeat(16_384)} }` }), 'invalid_request', 'query');
    const sent = (chars: number) =>
      send({ query: '{ workspace { id } }', variables: { a: 'a'.repeat(chars) } });
    expect((await sent(65_000)).status).toBe(200);
    expectRejection(await sent(66_000), 'payload_too_large');
    expectRejection(await send('{'), 'invalid_json');
  });

  it('has no use for an Idempotency-Key', async () => {
    const first = await send({ query: '{ workspace { id } }' }, { headers: { 'idempotency-key': 'same' } });
    expect(first.status).toBe(200);
    const scoped = await api.addKey({ scopes: ['plans:read'] });
    const options = { key: scoped, headers: { 'idempotency-key': 'same' } };
    const second = await send({ query: '{ customers { totalCount } }' }, options);
    expect(second.body.data).toEqual({ customers: null });
    expect(second.headers['idempotent-replayed']).toBeUndefined();
    expect((await api.pool.query('SELECT 1 FROM idempotent_answers')).rowCount).toBe(0);
  });

  it('has a secret key', async () => {
    const body = { query: '{ workspace { id } }' };
    expectRejection(await send(body, { key: undefined }), 'unauthenticated');
    const { publishable } = api.keys.live;
    expectRejection(await send(body, { key: publishable }), 'publishable_key_not_allowed');
    expectRejection(await send(body, { key: await api.addKey({ revokedAt: new Date() }) }), 'key_revoked');
  });
});
