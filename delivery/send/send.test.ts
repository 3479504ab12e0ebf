import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import {
  type Received,
  type Receiver,
  requestTo,
  startReading,
  startReceiver,
  testReceiver,
  testTalking,
} from '../receiver-under-test.ts';
import { type Attempt, createSend, type SendOptions, type SendRequest } from './send.ts';

/*
 * Mutants that turn it red: redirects followed; U+0000 kept; the whole response kept; `succeeded` for every
 * response; `Retry-After` of a success used; waiting for a name that hangs.
 */
const SECRETS = [`whsec_${Buffer.alloc(32, 1).toString('base64')}`];
const EVENT = { body: '{"id":"evt_1","é":"💡"}', secrets: SECRETS };

const sender = createSend({ log: SILENT });
afterAll(() => sender.close());

function attempt({ url }: Pick<Receiver, 'url'>, more: Partial<SendRequest> = {}): Promise<Attempt> {
  return sender.send(requestTo(url, { ...EVENT, ...more }));
}

const responding = (respond: (response: ServerResponse, request: IncomingMessage) => void) =>
  testReceiver(startReceiver((request, response) => respond(response, request)));

describe('an attempt', () => {
  it('posts the bytes of the event to its path, and records the request as it was', async () => {
    const reads: Received[] = [];
    const { port } = await testReceiver(startReading((one) => reads.push(one)));
    const shown = await attempt({ url: `http://127.0.0.1:${port}/a%20b?c=d#e` }, { attemptNumber: 3 });
    const [read] = reads;
    expect(read?.body.toString()).toBe(EVENT.body);
    expect(read?.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(EVENT.body)),
      'webhook-id': 'evt_1',
      'x-service-attempt': '3',
      'x-service-timestamp': read?.headers['webhook-timestamp'],
    });
    const [first, ...lines] = shown.requestHead.split('\n');
    expect(first).toBe('POST /a%20b?c=d HTTP/1.1');
    for (const line of lines) {
      const [name = '', value] = line.split(': ');
      expect([name, read?.headers[name.toLowerCase()]]).toEqual([name, value]);
    }
    expect(shown).toMatchObject({ outcome: 'succeeded', status: 200, responseBody: 'ok' });
    expect(shown.responseHead).toMatch(/^HTTP\/1\.1 200 OK\ndate: /);
    expect(shown.requestHead).not.toContain(SECRETS[0]?.slice(6));
  });

  it.each([200, 201, 202, 204, 299])('is a success with %i', async (status) => {
    const receiver = await responding((response) => response.writeHead(status).end());
    expect(await attempt(receiver)).toMatchObject({ outcome: 'succeeded', status });
  });

  it.each([300, 304, 400, 401, 404, 409, 429, 500, 503, 599])('is a failure with %i', async (status) => {
    const receiver = await responding((response) => response.writeHead(status).end());
    const expected = { outcome: 'failed', status, errorCode: 'status_not_2xx' };
    expect(await attempt(receiver)).toMatchObject(expected);
  });

  it('is the last one with 410', async () => {
    const receiver = await responding((response) => response.writeHead(410).end('gone'));
    expect(await attempt(receiver)).toMatchObject({ outcome: 'gone', status: 410, responseBody: 'gone' });
  });

  it('takes Retry-After of a failure, in seconds or as a date', async () => {
    const of = async (value: string) => {
      const receiver = await responding((response) =>
        response.writeHead(503, { 'retry-after': value }).end(),
      );
      return (await attempt(receiver)).retryAfterMs;
    };
    expect(await of('120')).toBe(120_000);
    const inAMinute = (await of(new Date(Date.now() + 60_000).toUTCString())) ?? 0;
    expect(inAMinute).toBeGreaterThan(55_000);
    expect(inAMinute).toBeLessThanOrEqual(60_000);
    expect(await of('Fri, 01 Jan 2021 00:00:00 GMT')).toBe(0);
    // The schedule bounds it, however absurd it is.
    expect(await of('99999999999')).toBe(99_999_999_999_000);
    expect(await of('9'.repeat(400))).toBe(Number.POSITIVE_INFINITY);
    for (const value of ['-1', '1.5', 'soon', '1e9', '2026-01-01']) {
      expect(await of(value)).toBeUndefined();
    }
  });

  it('keeps 4 KiB of a response, of which 64 KiB are read', async () => {
    const whole = await responding((response) => response.end('é'.repeat(32_768)));
    expect(await attempt(whole)).toMatchObject({ outcome: 'succeeded', responseBody: 'é'.repeat(2_048) });
    const longer = await responding((response) => response.end('é'.repeat(32_769)));
    const expected = { outcome: 'failed', status: 200, errorCode: 'response_too_large' };
    expect(await attempt(longer)).toMatchObject({ ...expected, responseBody: 'é'.repeat(2_048) });
  });

  it('shows a response that is not text so that it can be stored', async () => {
    const receiver = await testTalking((socket) =>
      socket.end(
        Buffer.from(
          'HTTP/1.1 200 \xc3\xa9\r\nx-a: \xff\xe9\r\n\r\na\0b\xff\xc3\xa9\xed\xa0\x80\xe2',
          'latin1',
        ),
      ),
    );
    const { responseHead = '', responseBody = '' } = await attempt(receiver);
    expect(responseBody).toBe('a\ufffdb\ufffdé\ufffd\ufffd\ufffd');
    expect(responseHead).toContain('x-a: ÿé');
    expect(`${responseHead}${responseBody}`).not.toContain('\0');
    expect(responseHead.isWellFormed()).toBe(true);
  });

  it('requests no encoding of the response and unpacks none', async () => {
    const receiver = await responding((response, { headers }) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(String(headers['accept-encoding']));
    });
    expect((await attempt(receiver)).responseBody).toBe('undefined');
  });
});

describe('a name', () => {
  const resolvedBy = async (resolve: NonNullable<SendOptions['resolve']>) => {
    const own = createSend({ log: SILENT, attemptTimeoutMs: 1_000, resolve });
    const shown = await own.send(requestTo('https://a.example/', { privateTargets: 'none' }));
    await own.close();
    return [shown.outcome, shown.errorCode];
  };

  it('that does not exist is a failed attempt', async () => {
    expect(await resolvedBy(async () => [])).toEqual(['failed', 'name_not_resolved']);
    expect(await resolvedBy(() => Promise.reject(new TypeError('x')))).toEqual([
      'failed',
      'name_not_resolved',
    ]);
  });

  it('whose servers hang is a failed attempt, in time', async () => {
    expect(await resolvedBy(() => new Promise(() => undefined))).toEqual(['failed', 'timeout']);
  });
});
