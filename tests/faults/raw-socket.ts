import { once } from 'node:events';
import { connect } from 'node:net';
import { poll } from '../../infra/platform/poll.ts';
import { parseExact } from '../support/exact.ts';

const RECEIVED_CHARS_MAX = 64 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
const LOOK_EVERY_MS = 5;

/** A connection on which exactly the given bytes are sent. */
export async function openRawSocket(origin: string) {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let text = '';
  let isClosed = false;
  // A reset is one of the ways in which a server closes.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
  });
  socket.on('data', (chunk) => {
    if (text.length < RECEIVED_CHARS_MAX) text += chunk.toString('latin1');
  });
  await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });

  const becomes = async (isSo: () => boolean, timeoutMs: number): Promise<boolean> => {
    await poll(() => isSo() || isClosed || undefined, { timeoutMs, everyMs: LOOK_EVERY_MS });
    return isSo();
  };
  return {
    /** False once the server has closed. */
    send: (bytes: string | Buffer): boolean => !isClosed && (socket.write(bytes) || true),
    /** What came back, the first 64 KiB. */
    received: () => text,
    /** True as soon as the pattern has come back; false when the time is over or the server closes first. */
    receives: (pattern: RegExp, timeoutMs: number) => becomes(() => pattern.test(text), timeoutMs),
    /** True when the server closes within the time. */
    isClosedWithin: (timeoutMs: number) => becomes(() => isClosed, timeoutMs),
    /** Half-closes our side; the server's responses still come. */
    end: () => void socket.end(),
    /** Closes without more: with a reset where `hard`. */
    leave: (hard = false) => void (hard ? socket.resetAndDestroy() : socket.destroy()),
  };
}

/** The head of a POST, without its framing unless it is among `headers`. */
export function postHead(path: string, key: string, headers: readonly string[]): string {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: test', `X-API-Key: ${key}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A whole POST of a JSON body as it goes over a connection. */
export function postRequest(
  path: string,
  key: string,
  body: string,
  headers: readonly string[] = [],
): Buffer {
  const framing = `Content-Length: ${Buffer.byteLength(body)}`;
  return Buffer.from(
    `${postHead(path, key, ['Content-Type: application/json', framing, ...headers])}${body}`,
  );
}

/** Undefined while the response is not whole. */
export function readRawResponse(response: Buffer) {
  const bodyAt = response.indexOf('\r\n\r\n') + 4;
  if (bodyAt < 4) return undefined;
  const head = response.toString('latin1', 0, bodyAt);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  if (response.length < bodyAt + length) return undefined;
  return {
    status: Number(head.slice(9, 12)),
    replayed: /^idempotent-replayed: true/im.test(head),
    body: parseExact(response.toString('utf8', bodyAt, bodyAt + length)),
  };
}
