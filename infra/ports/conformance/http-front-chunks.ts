import { expect, it } from 'vitest';
import { openConnection, requestHead } from '../../../tests/support/raw-connection.ts';
import { type CreateFront, describeRequest, responseJson, sha256, startFront } from './front-under-test.ts';

const CHUNKED = requestHead('POST /shown HTTP/1.1', ['Transfer-Encoding: chunked', 'Trailer: X-Sum']);
const BODY = '2\r\nab\r\n';
const HONEST = '0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n';
/** Two bytes behind the last chunk are dropped by uWebSockets.js, and the rest is read as a request. */
const HIDING = '0\r\na:GET /hidden HTTP/1.1\r\nHost: test\r\n\r\n';

/** Fields behind a body in chunks (RFC 9112, 7.1.2), and older versions of HTTP. */
export function chunks(createFront: CreateFront): void {
  // Red with the installed binary of uWebSockets.js: a bare 505, and the body may have been acted on.
  it.each([
    ['in one packet', [CHUNKED + BODY + HONEST]],
    ['a packet later', [CHUNKED, BODY, HONEST]],
    ['in pieces', [CHUNKED, `${BODY}0\r`, '\nX-S', 'um: 1\r\n', '\r\n']],
  ])('ignores trailer fields that come %s, and responds', async (_, packets) => {
    const client = await (await startFront(createFront, describeRequest)).connect();
    client.socket.setNoDelay(true);
    for (const packet of packets) await client.sendPacket(packet);
    const { status, body } = await client.response();
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({ bytes: 2, sha256: sha256(Buffer.from('ab')) });
  });

  // Red with the installed binary: the field is carried out, past whatever a proxy allows its client.
  it.each([
    ['with the body', [CHUNKED + BODY + HIDING]],
    ['behind the last chunk', [`${CHUNKED}${BODY}0\r\n`, HIDING.slice(3)]],
    ['behind the response', [`${CHUNKED}${BODY}0\r\n`, '', '', HIDING.slice(3)]],
  ])('never takes a trailer field for a request that comes %s', async (_, packets) => {
    const seen: string[] = [];
    const { port } = await startFront(createFront, (exchange) => {
      seen.push(exchange.path);
      exchange.readBody(
        () => undefined,
        () => responseJson(exchange, exchange.path),
      );
    });
    const client = await openConnection(port);
    client.socket.setNoDelay(true);
    for (const packet of packets) await client.sendPacket(packet);
    client.socket.end();
    await client.closed(5_000);
    expect(seen).toEqual(['/shown']);
  });

  it('responds to a request in chunks whole, however large the response', async () => {
    const { port } = await startFront(createFront, (exchange) => {
      const size = Number(exchange.query);
      exchange.readBody(
        () => undefined,
        () => exchange.respond(200, {}, Buffer.alloc(size, 'x')),
      );
    });
    for (const size of [0, 1, 16_384, 16_385, 3_000_000]) {
      const client = await openConnection(port);
      client.send(
        `${requestHead(`POST /?${size} HTTP/1.1`, ['Transfer-Encoding: chunked'])}1\r\na\r\n0\r\n\r\n`,
      );
      const { headers, body } = await client.response();
      expect(body).toBe('x'.repeat(size));
      const closing = [...headers].filter(([name]) => name === 'connection').map(([, value]) => value);
      expect(['close', 'keep-alive']).toContain(closing.join());
    }
  });

  // nginx speaks HTTP/1.0 to an upstream unless configured otherwise.
  it('serves HTTP/1.0, or names the directive of a proxy to set', async () => {
    const client = await (await startFront(createFront, describeRequest)).connect();
    client.send('GET /old HTTP/1.0\r\nHost: test\r\nConnection: close\r\n\r\n');
    await client.closed(5_000);
    const text = client.received();
    expect(text).toMatch(/\r\nx-api-version: v1\r\n/i);
    if (text.includes(' 200 ')) expect(text).toContain('"/old"');
    else expect(text).toMatch(/ 505 [\s\S]*\r\n\r\n\{.*proxy_http_version 1\.1;.*\}\s*$/);
  });
}
