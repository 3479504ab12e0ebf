import { expect, it } from 'vitest';
import { openConnection, type RawConnection, requestHead } from '../../../tests/support/raw-connection.ts';
import { type CreateFront, describeRequest, responseJson, startFront } from './front-under-test.ts';

/** Header values arrive as they were sent; and the headers of responses. */
export function headers(createFront: CreateFront): void {
  it('hands over every byte of a header value, at every position', () => everyByte(createFront));
  it('sends 100 to a client that expects it, in any case of letters', () => continues(createFront));
  it('responds to any other expectation of a client', () => otherExpectations(createFront));
  it('responds to a request whose header names hold _ or a dot', () => unusualNames(createFront));
  it('distinguishes two idempotency keys from one that contains a comma', () => twoKeys(createFront));
  it('forbids caches and guesses of the type, unless a response sets otherwise', () => guards(createFront));
  it('reveals nowhere what it is made of', () => noBanner(createFront));
}

/**
 * Red with the installed binary of uWebSockets.js: bytes from 0x80 on are trimmed from both ends, so that
 * `order-東京` and `order-大阪` arrive as one.
 */
async function everyByte(createFront: CreateFront): Promise<void> {
  const { port } = await startFront(createFront, (exchange) =>
    responseJson(exchange, Object.fromEntries(exchange.headers)),
  );
  const client = await openConnection(port);
  const firstOf = new Map<string, string>();
  for (const values of [...valuesOfEveryByte(), [Buffer.from('order-東京'), Buffer.from('order-大阪')]]) {
    client.send(requestOf(values));
    const seen = JSON.parse(Buffer.from((await client.response()).body, 'latin1').toString());
    for (const [at, sent] of values.entries()) {
      // Our texts are UTF-8: invalid bytes are replaced, and never left out.
      expect(seen[`x-${at}`]).toBe(sent.toString());
      const other = firstOf.get(sent.toString()) ?? sent.toString('hex');
      if (other !== sent.toString('hex')) expect(sent.toString()).toContain('\ufffd');
      firstOf.set(sent.toString(), sent.toString('hex'));
    }
  }
}

/** Each byte that a value may contain, alone, at its start, in its middle and at its end. */
function valuesOfEveryByte(): Buffer[][] {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte > 0x20 && byte !== 0x7f);
  const a = 0x61;
  return bytes.map((byte) =>
    [[byte], [byte, a, a], [a, byte, a], [a, a, byte]].map((one) => Buffer.from(one)),
  );
}

function requestOf(values: Buffer[]): Buffer {
  const lines = values.map((value, at) =>
    Buffer.concat([Buffer.from(`X-${at}: `), value, Buffer.from('\r\n')]),
  );
  return Buffer.concat([Buffer.from('GET / HTTP/1.1\r\nHost: test\r\n'), ...lines, Buffer.from('\r\n')]);
}

/** Red when letters are compared as they are: Java's client sends `100-Continue`, and waited in vain. */
async function continues(createFront: CreateFront): Promise<void> {
  const { port } = await startFront(createFront, describeRequest);
  for (const expectation of ['100-continue', '100-Continue', '100-CONTINUE']) {
    const client = await openConnection(port);
    client.send(requestHead('POST / HTTP/1.1', ['Content-Length: 3', `Expect: ${expectation}`]));
    await client.receives('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('abc');
    await client.receives('"bytes":3');
    const rest = client.received().replace('HTTP/1.1 100 Continue\r\n\r\n', '');
    expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n([^\r\n]+: [^\r\n]+\r\n)+\r\n\{/);
    expect(rest).not.toContain('100 Continue');
    await responsesNext(client);
  }
}

async function responsesNext(client: RawConnection): Promise<void> {
  client.send(requestHead('GET /next HTTP/1.1'));
  await client.receives('"/next"');
}

async function otherExpectations(createFront: CreateFront): Promise<void> {
  const { url } = await startFront(createFront, describeRequest);
  const client = await openConnection(Number(new URL(url).port));
  client.send(requestHead('GET / HTTP/1.1', ['Expect: a-pony']));
  expect(await client.response()).toMatchObject({ status: 200 });
}

/** Red with the installed binary for Node 20: no response ever comes. */
async function unusualNames(createFront: CreateFront): Promise<void> {
  const client = await (await startFront(createFront, describeRequest)).connect();
  for (const line of ['x_request_id: 1', '_x: 1', 'x-trace_: 1', 'a.b: 1', 'Long_Name_With_Words: 1']) {
    client.send(requestHead('GET / HTTP/1.1', [line, 'X-Value: kept']));
    const { status, body } = await client.response();
    expect(status).toBe(200);
    expect(JSON.parse(body).headers).toMatchObject({ 'x-value': 'kept' });
  }
}

/** Red when they are joined as a list. */
async function twoKeys(createFront: CreateFront): Promise<void> {
  const client = await (await startFront(createFront, describeRequest)).connect();
  const seen: string[] = [];
  for (const lines of [['Idempotency-Key: a', 'Idempotency-Key: b'], ['Idempotency-Key: a, b']]) {
    client.send(requestHead('GET / HTTP/1.1', lines));
    seen.push(JSON.parse((await client.response()).body).headers['idempotency-key']);
  }
  expect(seen).toEqual(['a\nb', 'a, b']);
}

async function guards(createFront: CreateFront): Promise<void> {
  const { port } = await startFront(createFront, (exchange) => {
    const own: Record<string, string> = exchange.path === '/kept' ? { 'Cache-Control': 'max-age=60' } : {};
    if (exchange.path === '/thrown') throw new Error('a fault of the handler');
    if (exchange.path !== '/pieces') return exchange.respond(422, own, Buffer.from('{}'));
    exchange.begin(200, [['content-type', 'text/plain']]);
    exchange.write(Buffer.from('piece'));
    exchange.end();
  });
  const expected = {
    '/plain': 'no-store',
    '/kept': 'max-age=60',
    '/thrown': 'no-store',
    '/pieces': 'no-store',
  };
  for (const [path, caching] of Object.entries(expected)) {
    const { headers: got } = await fetch(`http://127.0.0.1:${port}${path}`);
    expect(got.get('cache-control'), path).toBe(caching);
    expect(got.get('x-content-type-options'), path).toBe('nosniff');
  }
  const large = await fetch(`http://127.0.0.1:${port}`, { headers: { 'x-large': 'x'.repeat(17_000) } });
  expect(large.status).toBe(431);
  expect(large.headers.get('cache-control')).toBe('no-store');
}

const REJECTED_BY_THE_PARSER = [
  'GET / HTTP/1.0\r\nHost: test\r\n\r\n',
  'GET http://test/x HTTP/1.1\r\nHost: test\r\n\r\n',
  'GET / HTTP/1.1\r\nX-A: b\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
];

async function noBanner(createFront: CreateFront): Promise<void> {
  const { port } = await startFront(createFront, describeRequest);
  for (const bytes of [requestHead('GET / HTTP/1.1'), ...REJECTED_BY_THE_PARSER]) {
    const client = await openConnection(port);
    client.send(bytes);
    if (bytes.startsWith('GET')) await client.receives('HTTP/1.1');
    client.socket.end();
    await client.closed(5_000);
    expect(client.received()).not.toMatch(/uwebsockets|node|^server:/im);
  }
}
