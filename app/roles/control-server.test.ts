import { expect, onTestFinished, test } from 'vitest';
import { openConnection, requestHead } from '../../tests/support/raw-connection.ts';
import { createControlServer } from './control-server.ts';

async function startServer() {
  const server = await createControlServer();
  onTestFinished(() => server.close());
  return { server, port: Number(new URL(server.url).port) };
}

// Red when a supervisor takes a process that waits for its stores for dead.
test('a process that waits for its stores is alive and not ready', async () => {
  const { server } = await startServer();
  const health = await fetch(`${server.url}/healthz`);
  expect([health.status, await health.json()]).toEqual([200, { status: 'alive' }]);
  expect(health.headers.get('x-request-id')).toMatch(/^req_/);
  for (const path of ['/readyz', '/api/v1/customers']) {
    const response = await fetch(server.url + path);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    const requestId = response.headers.get('x-request-id');
    expect(requestId).toMatch(/^req_/);
    expect(await response.json()).toMatchObject({ error: { code: 'unavailable', requestId } });
  }
});

// Red with node's own limit, which is the public one without what is added on the way.
test('the public limit of a header block leaves room for what the forwarder adds', async () => {
  const { server, port } = await startServer();
  server.serve((_, response) => response.end('taken'));
  const client = await openConnection(port);
  client.send(
    requestHead('GET / HTTP/1.1', [`X-Large: ${'x'.repeat(16_300)}`, `X-Added: ${'x'.repeat(500)}`]),
  );
  await client.receives('taken');
});

test('bytes that are not HTTP, and endless headers, are rejected in the common form', async () => {
  const { port } = await startServer();
  const rejections = [
    ['GET / HTTP/1.1\r\nHost: test\r\nA b: c\r\n\r\n', 400, 'invalid_request'],
    [requestHead('GET / HTTP/1.1', [`X-Large: ${'x'.repeat(40_000)}`]), 431, 'headers_too_large'],
  ] as const;
  for (const [bytes, status, code] of rejections) {
    const client = await openConnection(port);
    client.send(bytes);
    const response = await client.response();
    expect(response.status).toBe(status);
    const requestId = response.headers.get('x-request-id');
    expect(JSON.parse(response.body)).toMatchObject({ error: { code, requestId } });
  }
});
