import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Rejected, Transient } from '../../schemas/failures.ts';
import type { Readiness } from '../../schemas/resources/service.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import type { RequestContext } from '../http/request-context.ts';
import { createGraphql } from './graphql.ts';
import type { GraphqlDeps } from './read-context.ts';

/*
 * Fields that fail or hang, without a store.
 *
 * Mutants this suite catches: the message of any error shown; an error of ours that is not logged; no time
 * limit.
 */
const CONTEXT = {
  environment: 'ws_a:live',
  actor: 'key_a',
  scopes: ['*'],
  kind: 'secret',
  headers: {},
  requestId: 'req_a',
} as unknown as RequestContext;

const SECRET = 'postgres://user:password@host';

const QUERY = '{ health { status } }';

function query(health: () => Promise<Readiness>, { log = SILENT, timeoutMs = 60_000, query = QUERY } = {}) {
  const deps = { readiness: health, log } as unknown as GraphqlDeps & { log: typeof SILENT };
  const input = { params: {}, query: {}, bodyText: '', body: { query } };
  return createGraphql(deps, timeoutMs)(CONTEXT, input);
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

it('a query that takes too long is rejected, and says what to do', async () => {
  const hanging = () => new Promise<Readiness>(() => undefined);
  await expect(query(hanging, { timeoutMs: 20 })).rejects.toMatchObject({
    rejection: {
      code: 'unavailable',
      message: 'The query took longer than 0.02 s. Ask for less, or retry the request.',
    },
  });
});
