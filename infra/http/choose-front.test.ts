import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { responseJson } from '../ports/conformance/front-under-test.ts';
import type { HttpFront } from '../ports/http-front.ts';
import { chooseFront } from './choose-front.ts';
import { FRONT_LIMITS } from './front-limits.ts';

it('takes the native front where it loads', async () => {
  const front = await chooseFront((exchange) => responseJson(exchange, {}), FRONT_LIMITS, SILENT);
  expect((await get(front)).headers.has('keep-alive')).toBe(false);
});

it('takes node:http with one line in the log where the native binary does not load', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const doesNotLoad = () => Promise.reject(new Error('no binary for this machine'));
  const front = await chooseFront((exchange) => responseJson(exchange, {}), FRONT_LIMITS, log, doesNotLoad);
  expect((await get(front)).headers.has('keep-alive')).toBe(true);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('no binary for this machine');
});

async function get(front: HttpFront): Promise<Response> {
  onTestFinished(() => front.close(0));
  const response = await fetch(`http://127.0.0.1:${await front.listen('127.0.0.1', 0)}`);
  expect(response.status).toBe(200);
  return response;
}
