import { readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inTime } from '../../../../tests/support/in-time.ts';
import { testFolder } from '../../../../tests/support/test-folder.ts';
import { errorBody, sendJson, startBatchServer } from '../meter/batch-server-under-test.ts';
import { readSettings } from './settings.ts';
import { startSidecar } from './sidecar.ts';

const SECRET = 'sk_test_not_for_logs';
const EVENT = { customerId: 'acme', meterId: 'calls', value: 1 };

async function openSidecar(url: string, more: Record<string, string> = {}) {
  const log: string[] = [];
  const environment = {
    METERGATE_URL: url,
    METERGATE_KEY: SECRET,
    PORT: '0',
    CLOSE_TIMEOUT_MS: '0',
    ...more,
  };
  const sidecar = await startSidecar(readSettings(environment), (message) => void log.push(message));
  let closed: ReturnType<typeof sidecar.close> | undefined;
  const close = () => {
    closed ??= sidecar.close();
    return closed;
  };
  onTestFinished(async () => void (await close()));
  const call = (method: string, path: string, options: CallOptions = {}) =>
    callSidecar(sidecar.port, { method, path, ...options });
  return { port: sidecar.port, close, log, call };
}

interface CallOptions {
  headers?: Record<string, string>;
  body?: unknown;
}

/** `fetch` sends no Host but the true one. A body that is a text is sent as it is. */
function callSidecar(
  port: number,
  { method, path, headers = {}, body }: CallOptions & { method: string; path: string },
): Promise<{ status: number; body: Record<string, unknown> }> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, method, path, headers: { ...type, ...headers } }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
    });
    sent.on('error', reject);
    sent.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
  });
}

describe('the sidecar', () => {
  it('takes one event or a list, says which of them were not taken, and sends the others', async () => {
    const server = await startBatchServer();
    const { call } = await openSidecar(server.url);
    const one = { ...EVENT, idempotencyKey: 'one' };
    expect(await call('POST', '/track', { body: one })).toEqual({
      status: 202,
      body: { taken: 1, errors: [] },
    });
    const list = [{ ...EVENT, idempotencyKey: 'two' }, { ...EVENT, customerId: '' }, 7];
    const { status, body } = await call('POST', '/track', { body: list });
    expect([status, body]).toMatchObject([
      202,
      {
        taken: 1,
        errors: [
          { index: 1, code: 'invalid_event' },
          { index: 2, code: 'invalid_event' },
        ],
      },
    ]);
    expect(await call('POST', '/track', { body: null })).toMatchObject({ status: 400, body: { taken: 0 } });
    expect(await call('POST', '/flush')).toEqual({ status: 200, body: { sent: 2, rejected: 0, waiting: 0 } });
    expect(server.created).toEqual(['one', 'two']);
    expect((await call('GET', '/healthz')).body).toMatchObject({
      status: 'ok',
      sent: 2,
      rejected: 3,
      waiting: 0,
    });
  });

  it('keeps the digits of a value, and the numbers of properties', async () => {
    const folder = testFolder();
    const { call } = await openSidecar('http://127.0.0.1:9', { METERGATE_SPOOL: folder });
    const properties = '{"a":1.00000000000000001,"b":1.0000000000000000e2}';
    const rest = `"value":123456789.000000000001,"properties":${properties},"meterId":"m"`;
    const body = `[{"customerId":"a",${rest}}]`;
    expect(await call('POST', '/track', { body })).toMatchObject({ status: 202 });
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const segment = files.find((name) => name.endsWith('.seg')) ?? '';
    const spooled = readFileSync(join(folder, segment), 'utf8');
    expect(spooled).toContain('"value":123456789.000000000001,');
    expect(spooled).toContain('"properties":{"a":1,"b":100}');
  });

  it('says that there is no room, and takes what is sent again', async () => {
    const server = await startBatchServer();
    server.always(({ response }) => {
      sendJson(response, 503, errorBody('overloaded'));
      return true;
    });
    const folder = testFolder();
    const { call } = await openSidecar(server.url, {
      METERGATE_SPOOL: folder,
      METERGATE_SPOOL_BYTES_MAX: String(2 ** 20),
    });
    const large = Array.from({ length: 9 }, () => ({ ...EVENT, properties: { note: 'x'.repeat(110_000) } }));
    expect(await call('POST', '/track', { body: large })).toMatchObject({ status: 202, body: { taken: 9 } });
    const more = await call('POST', '/track', { body: large.slice(0, 2) });
    expect(more).toMatchObject({ status: 503, body: { taken: 0, errors: [{ code: 'buffer_full' }, {}] } });
    expect((await call('GET', '/healthz')).body).toMatchObject({ mode: 'spool', waiting: 9, dropped: 2 });
  });

  it.each<[what: string, [method: string, path: string, headers: Record<string, string>], status: number]>([
    ['a name that leads here', ['GET', '/healthz', { host: 'evil.example:8790' }], 403],
    ['the page of another origin', ['POST', '/track', { origin: 'https://evil.example' }], 403],
    ['a page that has no origin', ['POST', '/flush', { origin: 'null' }], 403],
    ['an image of a page', ['GET', '/check/a/b', { 'sec-fetch-site': 'cross-site' }], 403],
    ['a form', ['POST', '/track', { 'content-type': 'text/plain' }], 415],
    ['a path that cannot be decoded', ['GET', '/check/%FF/b', {}], 400],
    ['a customer that there cannot be', ['GET', '/check/a%00/b', {}], 400],
    ['another path', ['GET', '/track/1', {}], 404],
    ['another method', ['GET', '/track', {}], 405],
    ['a compressed body', ['POST', '/track', { 'content-encoding': 'gzip' }], 415],
    ['a flush without an end', ['POST', '/flush?timeoutMs=1e9', {}], 400],
  ])('does nothing for %s', async (_, [method, path, headers], status) => {
    const server = await startBatchServer();
    const { call } = await openSidecar(server.url);
    const body = method === 'POST' ? { body: EVENT } : {};
    const rejected = await call(method, path, { headers, ...body });
    expect(rejected).toMatchObject({ status, body: { error: { message: expect.any(String) } } });
    expect((await call('GET', '/healthz')).body).toMatchObject({ tracked: 0 });
  });

  it('bounds bodies and lists', async () => {
    const server = await startBatchServer();
    const { call } = await openSidecar(server.url);
    const list = Array.from({ length: 501 }, () => EVENT);
    expect(await call('POST', '/track', { body: list })).toMatchObject({ status: 400 });
    expect(await call('POST', '/track', { body: '{"customerId":' })).toMatchObject({
      body: { error: { code: 'invalid_json' } },
    });
    const long = { body: ' '.repeat(1024 * 1024 + 1) };
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Array<Record<string, string>>) {
      expect(await call('POST', '/track', { ...long, headers })).toMatchObject({ status: 413 });
    }
    expect((await call('GET', '/healthz')).body).toMatchObject({ tracked: 0 });
  });

  it('decides by the policy of a feature without the server, and logs no secret', async () => {
    const { call, log } = await openSidecar('http://127.0.0.1:9', {
      METERGATE_FALLBACK: 'export=open, chat=closed',
    });
    const decided = async (featureKey: string) =>
      (await call('GET', `/check/a%2Fb/${featureKey}?requested=2`)).body;
    expect(await decided('export')).toMatchObject({ customerId: 'a/b', allowed: true, source: 'fallback' });
    expect(await decided('chat')).toMatchObject({ allowed: false, source: 'fallback' });
    await call('POST', '/track', { body: EVENT });
    await call('POST', '/flush?timeoutMs=50');
    expect(log.join('\n')).toMatch(/no_response/);
    expect(log.join('\n')).not.toContain(SECRET);
  });

  it('ends with a request under way, and hands on what it had taken', async () => {
    const server = await startBatchServer();
    const { port, call, close } = await openSidecar(server.url, { CLOSE_TIMEOUT_MS: '5000' });
    await call('POST', '/track', { body: EVENT });
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    const head = 'POST /track HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json';
    socket.write(`${head}\r\ncontent-length: 9\r\n\r\n{`);
    await call('GET', '/healthz');
    expect(await inTime(close(), 10_000, 'the end')).toMatchObject({ rejected: 0, waiting: 0 });
    expect(server.created).toHaveLength(1);
  });
});

describe('settings of the sidecar', () => {
  const given = { METERGATE_URL: 'https://a.example', METERGATE_KEY: ` ${SECRET}\n` };

  it('have a default but for the address and the key', () => {
    expect(readSettings(given)).toEqual({
      url: 'https://a.example/',
      apiKey: SECRET,
      port: 8790,
      spool: undefined,
      fallback: 'closed',
      closeTimeoutMs: 10_000,
    });
  });

  it.each([
    ['METERGATE_URL', undefined],
    ['METERGATE_URL', 'usage.example.com:1'],
    ['METERGATE_URL', 'https://user:hunter2@a.example'],
    ['METERGATE_KEY', undefined],
    ['METERGATE_KEY', 'sk_hunter2\nx'],
    ['PORT', '65536'],
    ['PORT', '1e3'],
    ['METERGATE_FSYNC', 'hunter2'],
    ['METERGATE_SPOOL_BYTES_MAX', '1'],
    ['METERGATE_FALLBACK', 'export=hunter2'],
  ])('that cannot be used are named, and not repeated: %s', (name, value) => {
    const read = () => readSettings({ ...given, [name]: value });
    expect(read).toThrow(name);
    expect(read).not.toThrow(/hunter2/);
  });
});
