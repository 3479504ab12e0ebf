import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Rejected, Transient } from '../../schemas/failures.ts';
import type { GraphqlResponse } from '../../schemas/resources/graphql.ts';
import type { Readiness } from '../../schemas/resources/service.ts';
import { deferred } from '../../tests/support/deferred.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { CONTEXT } from './context-under-test.ts';
import { createGraphql } from './graphql.ts';
import type { GraphqlDeps } from './read-context.ts';

/*
 * Fields that fail or hang, without a store.
 *
 * Mutants this suite catches: the message of any error shown; an error of ours that is not logged; no time
 * limit.
 */
const SECRET = 'postgres://user:password@host';

const QUERY = '{ health { status } }';

const chargeRequest = () => undefined;

async function query(
  health: () => Promise<Readiness>,
  { log = SILENT, timeoutMs = 60_000, query = QUERY } = {},
) {
  const deps = { readiness: health, log, chargeRequest } as unknown as GraphqlDeps & { log: typeof SILENT };
  const input = { params: {}, query: {}, bodyText: '', body: { query } };
  return (await createGraphql(deps, timeoutMs)(CONTEXT, input)) as GraphqlResponse;
}

const failing = (error: unknown) => () => Promise.reject(error);

describe('a field that fails', () => {
  it('is null, with the code of its error', async () => {
    const rejected = new Rejected('invalid_request', 'Not so.', { param: 'at', details: { from: 1 } });
    expect(await query(failing(rejected))).toEqual({
      data: { health: null },
      errors: [
        {
          message: 'Not so.',
          path: ['health'],
          locations: [{ line: 1, column: 3 }],
          extensions: { code: 'invalid_request', param: 'at', details: { from: 1 } },
        },
      ],
    });
    const unavailable = await query(failing(new Transient('database_slow', SECRET)));
    expect(unavailable).toMatchObject({ errors: [{ extensions: { code: 'unavailable' } }] });
    expect(JSON.stringify(unavailable)).not.toContain(SECRET);
  });

  it('by a fault of ours shows nothing of it, and is logged under the request', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
    const twice = '{ health { status } again: health { status } }';
    await query(failing(new TypeError(SECRET)), { log, query: twice });
    expect(lines.splice(0)).toHaveLength(1);
    const response = await query(failing(new TypeError(SECRET)), { log });
    expect(response).toMatchObject({
      data: { health: null },
      errors: [{ extensions: { code: 'internal' } }],
    });
    expect(JSON.stringify(response)).not.toContain(SECRET);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(SECRET);
    expect(lines[0]).toContain('req_a');
    const wrong = await query(async () => ({ status: 'unknown' }) as unknown as Readiness);
    expect(wrong).toMatchObject({ data: { health: null }, errors: [{ extensions: { code: 'internal' } }] });
  });
});

it('a response that gets too large ends with the limit, and no field after that is read', async () => {
  const checks = Object.fromEntries([['a', { ok: true, detail: 'ä'.repeat(1_000_000) }]]);
  const large = async () => ({ status: 'ready', checks }) as unknown as Readiness;
  const of = (count: number) =>
    `{ health { checks { ${Array.from({ length: count }, (_, at) => `a${at}: detail`).join(' ')} } } }`;
  expect(await query(large, { query: of(8) })).not.toHaveProperty('errors');
  const message = 'The response is larger than 16 MiB. Ask for less, or in several requests.';
  expect(await query(large, { query: of(9) })).toMatchObject({
    errors: [{ message, extensions: { code: 'query_too_complex', details: { limit: 'bytes' } } }],
  });
});

it('no usage events are read where none are asked for', async () => {
  let reads = 0;
  const handlers = {
    'customers.retrieve': async () => ({ id: 'a' }),
    'usage.events': async () => {
      reads += 1;
      return { data: [], asOf: '2026-01-01T00:00:00.000Z' };
    },
  };
  const deps = { handlers, log: SILENT, chargeRequest } as unknown as GraphqlDeps & { log: typeof SILENT };
  const serve = createGraphql(deps, 60_000);
  const send = (fields: string) => {
    const document = `{ customer(id: "a") { usageEvents(meterKey: "m", first: 0) { ${fields} } } }`;
    return serve(CONTEXT, { params: {}, query: {}, bodyText: '', body: { query: document } });
  };
  expect(await send('nodes { id }')).toEqual({ data: { customer: { usageEvents: { nodes: [] } } } });
  expect(reads).toBe(0);
  const usageEvents = { asOf: '2026-01-01T00:00:00.000Z', pageInfo: { hasNextPage: false } };
  expect(await send('asOf pageInfo { hasNextPage }')).toEqual({ data: { customer: { usageEvents } } });
  expect(reads).toBe(1);
});

it('a query whose client has gone is not read on', async () => {
  let close = () => {};
  const onClientClosed = (listener: () => void) => {
    close = listener;
  };
  const reads: string[] = [];
  const released = deferred<void>();
  const context = { ...CONTEXT, onClientClosed };
  const handlers = {
    'plans.retrieve': async (_: unknown, { params }: { params: { planId: string } }) => {
      reads.push(params.planId);
      if (params.planId !== 'later') await released.promise;
      return null;
    },
  };
  const deps = { handlers, log: SILENT, chargeRequest } as unknown as GraphqlDeps & { log: typeof SILENT };
  const plans = Array.from({ length: 20 }, (_, at) => `p${at}: plan(id: "${at}") { id }`);
  const serve = createGraphql(deps, 60_000);
  const send = (fields: string[]) =>
    serve(context, { params: {}, query: {}, bodyText: '', body: { query: `{ ${fields.join(' ')} }` } });
  const response = send(plans);
  await expect.poll(() => reads, { timeout: 20_000 }).toHaveLength(4);
  close();
  await expect(response).rejects.toMatchObject({ rejection: { code: 'unavailable' } });
  released.resolve();
  expect(await send(['plan(id: "later") { id }'])).toEqual({ data: { plan: null } });
  expect(reads).toEqual(['0', '1', '2', '3', 'later']);
});

it('a query that takes too long is rejected, and says what to do', async () => {
  const hanging = () => new Promise<Readiness>(() => undefined);
  await expect(query(hanging, { timeoutMs: 20 })).rejects.toMatchObject({
    rejection: {
      code: 'unavailable',
      message: 'The query took longer than 0.02 s. Ask for less, or retry the request.',
    },
  });
});

it('a query that validation cannot finish names what there is too much of', async () => {
  const same = `{ workspace { ${'id '.repeat(5_000)} } }`;
  const response = await query(failing(new Error('never read')), { query: same });
  expect(response.errors).toMatchObject([
    { extensions: { code: 'query_too_complex', details: { limit: 'fields' } } },
  ]);
  expect(response.errors?.[0]?.message).toContain('too many fields of one name');
  const unknown = `{ ${Array.from({ length: 300 }, (_, at) => `a${at}`).join(' ')} }`;
  const { errors = [] } = await query(failing(new Error('never read')), { query: unknown });
  expect(errors).toHaveLength(101);
  expect(errors.at(-1)?.message).toBe('The query has more than 100 errors; the others are not listed.');
});

it('a dear query counts against the rate of its key as several requests', async () => {
  const charged: number[] = [];
  const deps = {
    handlers: { 'customers.retrieve': async () => null },
    log: SILENT,
    chargeRequest: ({ actor }: { actor: string }, requests: number) =>
      void charged.push(requests, actor.length),
  } as unknown as GraphqlDeps & { log: typeof SILENT };
  const serve = createGraphql(deps, 60_000);
  const breakdowns = (count: number) =>
    Array.from({ length: count }, (_, at) => `b${at}: breakdown(meterKey: "m", dimension: "d") { total }`);
  for (const count of [1, 4]) {
    const document = `{ customer(id: "a") { ${breakdowns(count).join(' ')} } }`;
    await serve(CONTEXT, { params: {}, query: {}, bodyText: '', body: { query: document } });
  }
  expect(charged).toEqual([0, 5, 2, 5]);
});
