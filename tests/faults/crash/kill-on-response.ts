/**
 * A process for fault tests: sends one request and kills the server in the turn of the event loop in which
 * the response begins to arrive. A process of its own, since in one that also makes load and judges responses
 * that turn comes milliseconds too late. A message gives the request, another returns what arrived.
 */
import { connect } from 'node:net';
import { signal } from '../../../infra/platform/process-identity.ts';

export interface KillOrder {
  port: number;
  /** The server's. */
  pid: number;
  /** The whole request, in base64. */
  request: string;
}

export interface Arrived {
  /** The server was alive when the response began to arrive. */
  killed: boolean;
  /** All that arrived until the connection ended, in base64. '' when it ended without a response. */
  response: string;
}

process.on('message', ({ port, pid, request }: KillOrder) => {
  const chunks: Buffer[] = [];
  let killed = false;
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('connect', () => socket.write(Buffer.from(request, 'base64')));
  socket.on('data', (chunk: Buffer) => {
    if (chunks.length === 0) killed = signal(pid, 'SIGKILL');
    chunks.push(chunk);
  });
  socket.on('error', () => undefined); // the kill resets the connection; 'close' follows
  socket.on('close', () => {
    const response = Buffer.concat(chunks).toString('base64');
    process.send?.({ killed, response } satisfies Arrived);
  });
});
