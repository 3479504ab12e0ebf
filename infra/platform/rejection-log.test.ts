import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createRejectionLog } from './rejection-log.ts';

/*
 * Mutants that turn it red: no rate; one rate for all statuses; the number of left-out lines is missing; a
 * raw path.
 */
function startLog() {
  const lines: Array<Record<string, unknown>> = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const clock = { ms: 0 };
  const { rejected } = createRejectionLog(log, () => clock.ms);
  const notify = (status: number, requestId: string, path = '/api/v1/plans') =>
    rejected(status, () => ({ requestId, method: 'GET', path, code: 'not_found' }));
  return { lines, clock, notify, rejected };
}

it('a rejected request is found by its id, at info', () => {
  const { lines, notify } = startLog();
  notify(404, 'req_1');
  expect(lines).toMatchObject([
    { level: 30, requestId: 'req_1', status: 404, code: 'not_found', method: 'GET', path: '/api/v1/plans' },
  ]);
});

it('no more than five a second are logged of one status, with the number of those left out', () => {
  const { lines, clock, notify } = startLog();
  for (let at = 0; at < 1_000; at += 1) notify(401, `req_${at}`);
  notify(503, 'another');
  expect(lines.map(({ requestId }) => requestId)).toEqual([
    'req_0',
    'req_1',
    'req_2',
    'req_3',
    'req_4',
    'another',
  ]);
  clock.ms = 1_000;
  notify(401, 'later');
  notify(401, 'and later');
  expect(lines.slice(-2)).toMatchObject([{ requestId: 'later', leftOut: 995 }, { requestId: 'and later' }]);
  expect(lines.at(-1)).not.toHaveProperty('leftOut');
});

it('a key in a path is not logged, nor an endless path', () => {
  const { lines, notify } = startLog();
  notify(404, 'a', '/api/v1/customers/sk_live_abcDEF123/x/pk_test_9/whsec_a+b/c=');
  notify(404, 'b', `/${'x'.repeat(5_000)}`);
  expect(lines[0]?.path).toBe('/api/v1/customers/[secret]/x/[secret]/[secret]');
  expect(String(lines[1]?.path)).toHaveLength(200);
});

// Red when it is looked for before the path is decoded: `sk%5Flive%5F` is the same key.
it.each([
  ['/api/v1/customers/sk%5Flive%5FabcDEF123/x', '/api/v1/customers/[secret]/x'],
  ['/api/v1/customers/%73k%5flive_%61bc/x', '/api/v1/customers/[secret]/x'],
  ['/api/v1/customers/sk%255Flive%25255FabcDEF123', '/api/v1/customers/[secret]'],
  ['/x/whsec%5Fa%2Bb/c=', '/x/[secret]'],
  ['/api/v1/customers/a%20b%2Fc', '/api/v1/customers/a%20b%2Fc'],
  ['/100%/k%C3%B6ln', '/100%/k%C3%B6ln'],
])('of %s the log shows %s', (path, shown) => {
  const { lines, notify } = startLog();
  notify(404, 'a', path);
  expect(lines[0]?.path).toBe(shown);
});

it('a method is no way around it', () => {
  const { lines, rejected } = startLog();
  rejected(405, () => ({
    requestId: 'a',
    method: 'sk_live_abcDEF123',
    path: '/',
    code: 'method_not_allowed',
  }));
  expect(lines[0]?.method).toBe('[secret]');
});
