import { once } from 'node:events';
import { poll } from '../../infra/platform/poll.ts';
import { parseExact } from '../support/exact.ts';
import { watchSocket } from '../support/watched-socket.ts';

const RECEIVED_CHARS_MAX = 64 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
const LOOK_EVERY_MS = 5;

/** A connection on which exactly the given bytes are sent. */
export async function openRawSocket(origin: string) {
  const { hostname, port } = new URL(origin);
  const watched = watchSocket({ host: hostname, port: Number(port) }, RECEIVED_CHARS_MAX);
  const { socket } = watched;
  await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });

  const becomes = async (isSo: () => boolean, timeoutMs: number): Promise<boolean> => {
    await poll(() => isSo() || watched.isClosed || undefined, { timeoutMs, everyMs: LOOK_EVERY_MS });
    return isSo();
  };
  return {
    /** False once the server has closed. */
    send: (bytes: string | Buffer): boolean => !watched.isClosed && (socket.write(bytes) || true),
    /** What came back, the first 64 KiB. */
    received: () => watched.text,
    /** True as soon as the pattern has come back; false when the time is over or the server closes first. */
    receives: (pattern: RegExp, timeoutMs: number) => becomes(() => pattern.test(watched.text), timeoutMs),
    /** True when the server closes within the time. */
    isClosedWithin: (timeoutMs: number) => becomes(() => watched.isClosed, timeoutMs),
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
