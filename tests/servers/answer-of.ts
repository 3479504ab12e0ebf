import { connect } from 'node:net';

const ANSWER_MS = 1_000;

/** The first bytes that a server of this machine answers to these; undefined when none come in a second. */
export function answerOf(port: number, bytes: Uint8Array): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: ANSWER_MS });
    const done = (answer?: Buffer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => socket.write(bytes));
    socket.once('data', done);
    socket.once('timeout', () => done());
    socket.on('error', () => done());
    socket.once('close', () => done());
  });
}
