import { connect, type Socket } from 'node:net';

export interface WatchedSocket {
  socket: Socket;
  /** Everything received, as far as it is kept; a reader may take from it. */
  text: string;
  isClosed: boolean;
}

/** A connection on which exactly the given bytes are sent, and what comes of it. Keeps at most `charsMax`. */
export function watchSocket(
  to: { host: string; port: number },
  charsMax = Number.POSITIVE_INFINITY,
): WatchedSocket {
  const socket = connect({ ...to, noDelay: true });
  const watched = { socket, text: '', isClosed: false };
  // A reset is one of the ways in which a server closes.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    watched.isClosed = true;
  });
  socket.on('data', (chunk) => {
    if (watched.text.length < charsMax) watched.text += chunk.toString('latin1');
  });
  return watched;
}
