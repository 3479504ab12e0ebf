import { describe, expect, it } from 'vitest';
import { Rejected } from '../../schemas/failures.ts';
import type { GraphqlResponse } from '../../schemas/resources/graphql.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import type { PrintedJson } from '../http/printed-json.ts';
import { CONTEXT } from './context-under-test.ts';
import { createGraphql } from './graphql.ts';
import type { GraphqlDeps, RestHandlers } from './read-context.ts';
import { withGraphql } from './with-graphql.ts';

/*
 * What one query may take of the process that serves it, and of its other requests. Lists without a
 * store: their operations are functions here.
 *
 * Mutants this suite catches: `__typename` that counts nothing; an execution that is stopped in the middle of
 * an object, whose promises then end the process; failures without a limit; a list that is made in one turn.
 */
const deliveries = Array.from({ length: 5_000 }, () => ({ id: 'd'.repeat(40), endpointId: 'e' }));
const handlers = { 'webhookDeliveries.listAll': async () => ({ data: deliveries }) };

function serverOf(given: object = {}) {
  const deps = { handlers, log: SILENT, chargeRequest: () => undefined, ...given };
  const serve = createGraphql(deps as unknown as GraphqlDeps & { log: typeof SILENT }, 60_000);
  return async (query: string, context = CONTEXT) => {
    const input = { params: {}, query: {}, bodyText: '', body: { query } };
    return (await serve(context, input)) as GraphqlResponse;
  };
}

const list = (count: number, write: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => write(at)).join(' ');
const tooMuch = (limit: string) => ({
  errors: [{ extensions: { code: 'query_too_complex', details: { limit } } }],
});

describe('a response that gets too large', () => {
  it.each([
    ['of names of types', `nodes { ${list(480, (at) => `a${at}: __typename`)} }`],
    ['of lists under many names', list(240, (at) => `n${at}: nodes { __typename }`)],
    ['of texts', `nodes { ${list(480, (at) => `a${at}: id`)} }`],
  ])('%s ends with the limit', async (_, fields) => {
    const response = await serverOf()(`{ webhookDeliveries { ${fields} } }`);
    expect(response).toMatchObject(tooMuch('bytes'));
    expect(response).not.toHaveProperty('data');
  });

  it('leaves no promise of its other fields to end the process', async () => {
    const pool = { query: async () => ({ rows: [] }) };
    const fields = `n: nodes { endpoint { id } } big: nodes { ${list(450, (at) => `a${at}: id`)} }`;
    expect(await serverOf({ pool })(`{ webhookDeliveries { ${fields} } }`)).toMatchObject(tooMuch('bytes'));
  });
});

it('rows are not read without end, whatever is shown of them', async () => {
  const row = {
    actor: 'a',
    action: 'b',
    objectId: 'c',
    after: null,
    requestId: null,
    createdAt: new Date(0),
  };
  const [us, texts] = [{ createdUs: 1, placeId: '1' }, `{"a":"${'b'.repeat(150_000)}"}`];
  const pool = {
    query: async () => ({ rows: Array.from({ length: 101 }, () => ({ ...row, ...us, before: texts })) }),
  };
  const send = serverOf({ pool });
  const page = (at: number) => `l${at}: auditLog(first: 100, actor: "a${at}") { nodes { objectId } }`;
  expect(await send(`{ ${page(0)} }`)).not.toHaveProperty('errors');
  expect(await send(`{ ${page(0)} ${page(1)} }`)).toMatchObject(tooMuch('read'));
});

describe('others are served', () => {
  /** Turns of the event loop until all have ended. */
  async function turnsOf(responses: Array<Promise<unknown>>): Promise<number> {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(responses);
    isDone = true;
    return turns;
  }

  it('while a list is made', async () => {
    const response = serverOf()(`{ webhookDeliveries { nodes { ${list(20, (at) => `a${at}: id`)} } } }`);
    expect(await turnsOf([response])).toBeGreaterThan(80);
    expect(await response).not.toHaveProperty('errors');
  });

  it('while rows are shown', async () => {
    const us = { createdUs: 1, placeId: '1', createdAt: new Date(0) };
    const before = `{"a":"${'b'.repeat(10_000)}"}`;
    const pool = {
      query: async () => ({ rows: Array.from({ length: 100 }, () => ({ ...us, before, after: null })) }),
    };
    const page = (at: number) => `l${at}: auditLog(first: 100, actor: "a${at}") { nodes { __typename } }`;
    const response = serverOf({ pool })(`{ ${list(9, page)} }`);
    expect(await turnsOf([response])).toBeGreaterThan(9);
    expect(await response).not.toHaveProperty('errors');
  });

  it('while it is printed', async () => {
    const data = Array.from({ length: 100_000 }, (_, at) => at);
    const event = async () => ({ id: 'evt_a', type: 'a', created_at: 'b', data });
    const given = {
      handlers: { 'webhookEvents.retrieve': event },
      log: SILENT,
      chargeRequest: () => undefined,
    };
    const { handlers } = withGraphql(given as never, given.handlers as unknown as RestHandlers);
    const input = {
      params: {},
      query: {},
      bodyText: '',
      body: { query: '{ webhookEvent(id: "a") { data } }' },
    };
    const response = handlers['graphql.query'](CONTEXT, input) as Promise<PrintedJson>;
    expect(await turnsOf([response])).toBeGreaterThan(40);
    expect(JSON.parse((await response).text)).toEqual({ data: { webhookEvent: { data } } });
  });

  it('between the validation of one long query and of the next', async () => {
    const send = serverOf();
    const unknown = (of: number) => `{ ${list(2_000, (at) => `q${of}_${at}`)} }`;
    const sent = Array.from({ length: 12 }, (_, of) => send(unknown(of)));
    expect(await turnsOf(sent)).toBeGreaterThan(6);
  });
});

describe('fields that fail', () => {
  const failing = (count: number) => `{ webhookDeliveries {
    nodes { ${list(count, (at) => `e${at}: endpoint { id }`)} } } }`;
  const pool = { query: () => Promise.reject(new Rejected('invalid_request', 'Not so.')) };
  const few = async () => ({ data: deliveries.slice(0, 500) });
  const send = serverOf({ pool, handlers: { 'webhookDeliveries.listAll': few } });

  it('are listed, up to a number at which the query ends', async () => {
    expect((await send(failing(2))).errors).toHaveLength(1_000);
    const { errors = [], ...others } = await send(failing(3));
    expect(others).toEqual({});
    expect(errors).toMatchObject(tooMuch('errors').errors);
    expect(errors[0]?.message).toBe('More than 1000 fields of the query failed. The last one: Not so.');
  });
});

it('executions of one environment wait for each other, and leave room for another one', async () => {
  const released = deferred<void>();
  const begun: string[] = [];
  const health = async () => {
    begun.push('health');
    await released.promise;
    return { status: 'ready' };
  };
  const send = serverOf({ readiness: health });
  const query = '{ health { status } }';
  const sent = Array.from({ length: 5 }, () => send(query));
  await expect.poll(() => begun.length, { timeout: 20_000 }).toBe(4);
  const other = { ...CONTEXT, environment: 'ws_b:live' };
  const ofOther = send(query, other);
  await expect.poll(() => begun.length, { timeout: 20_000 }).toBe(5);
  released.resolve();
  for (const one of [...sent, ofOther]) expect(await one).toEqual({ data: { health: { status: 'ready' } } });
  expect(begun).toHaveLength(6);
});
