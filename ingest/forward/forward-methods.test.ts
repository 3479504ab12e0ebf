import { expect, it } from 'vitest';
import { createUwsFront } from '../../infra/http/uws-front.ts';
import { keptLog } from '../../infra/ports/conformance/front-under-test.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { openConnection, requestHead } from '../../tests/support/raw-connection.ts';
import { startForwarder, startUpstream } from './forwarder-under-test.ts';

/*
 * The native front only: node:http rejects a method it does not know itself, and closes on CONNECT.
 *
 * The control plane knows the paths and their methods, and checks the version first. Red when a method that
 * no path takes is judged here, or when forwarding it fails: a 503, and lines in the log.
 */
it('has the control plane reject a method that no path takes', async () => {
  const { log, lines } = keptLog();
  const taken = new Set(Object.values(ROUTES).map(({ method }) => String(method)));
  const sent: unknown[] = [];
  const upstream = await startUpstream((req, res) => {
    sent.push(req.headers['x-sent-method']);
    if (req.url?.startsWith('/api/v2')) res.writeHead(404, { 'content-length': 7 }).end('version');
    else if (taken.has(String(req.method))) res.end('carried out');
    else res.writeHead(405, { allow: 'GET, HEAD, POST', 'content-length': 6 }).end('method');
  });
  const { port } = await startForwarder(createUwsFront, { target: () => upstream, log });
  for (const method of METHODS) {
    const client = await openConnection(port);
    client.send(requestHead(`${method} /api/v2/plans HTTP/1.1`, ['X-Sent-Method: GET']));
    expect(await client.response(), method).toMatchObject({ status: 404, body: 'version' });
    client.send(requestHead(`${method} /api/v1/plans HTTP/1.1`));
    const response = await client.response();
    expect(response, method).toMatchObject({ status: 405, body: 'method' });
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
  }
  // For the log there.
  expect([...new Set(sent)]).toEqual(METHODS);
  expect(lines).toEqual([]);
});

const METHODS = ['CONNECT', 'FOO', 'get', 'TRACE', 'PROPFIND'];
