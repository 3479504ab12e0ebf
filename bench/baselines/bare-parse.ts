/** The baseline of goals G1 and G2: uWebSockets.js that parses JSON and responds. Prints its URL. */
import type { HttpResponse } from 'uWebSockets.js';
import { loadUws } from '../../infra/http/uws-binary.ts';

interface Batch {
  events?: unknown[];
}

const uws = loadUws();
uws
  .App()
  .post('/api/v1/usage/events/batch', (response) => {
    readBody(response, (body) => {
      const { events } = JSON.parse(body.toString()) as Batch;
      respond(response, '200 OK', { summary: { total: events?.length, created: events?.length } });
    });
  })
  .post('/api/v1/usage/events', (response) => {
    readBody(response, (body) => {
      const { value } = JSON.parse(body.toString()) as { value?: number };
      respond(response, '201 Created', { value });
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.stdout.write(`http://127.0.0.1:${uws.us_socket_local_port(socket)}\n`);
  });

function readBody(response: HttpResponse, use: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  response.onAborted(() => undefined);
  response.onData((chunk, isLast) => {
    // Its memory is given back after this call.
    if (chunks.length === 0 && isLast) return use(Buffer.from(chunk));
    chunks.push(Buffer.from(chunk.slice(0)));
    if (isLast) use(Buffer.concat(chunks));
  });
}

function respond(response: HttpResponse, status: string, body: object): void {
  response.cork(() => {
    response.writeStatus(status).writeHeader('Content-Type', 'application/json').end(JSON.stringify(body));
  });
}
