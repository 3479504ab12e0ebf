import { connect } from 'node:net';

const RESPONSE_MS = 1_000;

/** The first bytes that a server of this machine sends back; undefined when none come in a second. */
export function responseOf(port: number, bytes: Uint8Array): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: RESPONSE_MS });
    const done = (response?: Buffer) => {
      socket.destroy();
      resolve(response);
    };
    socket.once('connect', () => socket.write(bytes));
    socket.once('data', done);
    socket.once('timeout', () => done());
    socket.on('error', () => done());
    socket.once('close', () => done());
  });
}
