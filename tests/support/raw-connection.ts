import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { poll } from '../../infra/platform/poll.ts';
import { watchSocket } from './watched-socket.ts';

/** A connection on which a test says exactly the bytes it wants to. Gone when the test is over. */
export interface RawConnection {
  readonly socket: Socket;
  send(text: string | Buffer): void;
  /** In a packet of its own, as far as a socket allows. '' waits only. */
  sendPacket(text: string): Promise<void>;
  /** Everything received so far. */
  received(): string;
  /** Waits until what was received contains the text, and gives all of it. */
  receives(text: string): Promise<string>;
  /** The next response that has a Content-Length, taken from what was received. */
  response(): Promise<RawResponse>;
  /** Resolves when the server closed the connection; rejects after the time. */
  closed(timeoutMs: number, what?: string): Promise<void>;
}

export interface RawResponse {
  status: number;
  /** Names in lower case. */
  headers: Map<string, string>;
  body: string;
}

export async function openConnection(port: number): Promise<RawConnection> {
  const watched = watchSocket({ port, host: '127.0.0.1' });
  const { socket } = watched;
  onTestFinished(() => void socket.destroy());
  await until('the connection opens or is rejected', () => !socket.connecting || watched.isClosed);

  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    sendPacket: (sent) => new Promise((resolve) => socket.write(sent, () => setTimeout(resolve, 5))),
    received: () => watched.text,
    receives: async (expected) => {
      await until(`"${expected}" arrives`, () => watched.text.includes(expected) || watched.isClosed);
      const { text } = watched;
      if (!text.includes(expected)) throw new Error(`closed before "${expected}", after: ${text}`);
      return text;
    },
    response: async () => {
      const found = await poll(() => {
        return parseResponse(watched.text) ?? (watched.isClosed ? 'closed' : undefined);
      }, WAIT);
      if (found === undefined || found === 'closed') {
        throw new Error(`no response (${found}): ${watched.text}`);
      }
      watched.text = watched.text.slice(found.length);
      return found.response;
    },
    closed: (timeoutMs, what = 'it') => until(`the server closes ${what}`, () => watched.isClosed, timeoutMs),
  };
}

const WAIT = { timeoutMs: 20_000, everyMs: 2 };

/** Waits for something that a test has no event for. */
export async function until(what: string, isSo: () => boolean, timeoutMs = WAIT.timeoutMs): Promise<void> {
  const came = await poll(() => isSo() || undefined, { ...WAIT, timeoutMs });
  if (!came) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
}

/** The head of a request: `requestHead('GET / HTTP/1.1', ['X-A: b'])`. */
export function requestHead(line: string, headers: string[] = []): string {
  return `${[line, 'Host: test', ...headers].join('\r\n')}\r\n\r\n`;
}

function parseResponse(text: string): { response: RawResponse; length: number } | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n');
  const headers = new Map(lines.map((line) => splitHeader(line)));
  const length = headEnd + 4 + Number(headers.get('content-length') ?? 0);
  if (text.length < length) return undefined;
  const status = Number(statusLine.split(' ')[1]);
  return { response: { status, headers, body: text.slice(headEnd + 4, length) }, length };
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
