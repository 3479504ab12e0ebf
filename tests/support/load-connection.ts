import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** One response as it arrived. */
export interface LoadResponse {
  status: number;
  /** The `Idempotent-Replayed` header of a single event. */
  replayed: boolean;
  body: Buffer;
}

/** One keep-alive connection, one request at a time. It reconnects after a failure. */
export interface LoadConnection {
  /** Connects before the first request; rejects where nothing listens. */
  open(): Promise<void>;
  /** Rejects when no whole response came in time; the outcome of the request is then unknown. */
  ask(request: Buffer): Promise<LoadResponse>;
  close(): void;
}

const CONNECT_TIMEOUT_MS = 5_000;
const RESPONSE_TIMEOUT_MS = 15_000;
const HEAD_BYTES_MAX = 16 * 1024;

/** Raw sockets: an HTTP client costs as much of the machine as the server that is measured. */
export function createLoadConnection(url: URL, timeoutMs = RESPONSE_TIMEOUT_MS): LoadConnection {
  let socket: Socket | undefined;
  return {
    async open() {
      socket ??= await open(url);
    },
    async ask(request) {
      socket ??= await open(url);
      try {
        return await exchange(socket, request, timeoutMs);
      } catch (error) {
        socket.destroy();
        socket = undefined;
        throw error;
      }
    },
    close: () => socket?.destroy(),
  };
}

async function open(url: URL): Promise<Socket> {
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const port = Number(url.port || (isSecure ? 443 : 80));
  const socket = isSecure ? connectSecurely({ host, port, servername: host }) : connect({ host, port });
  socket.setNoDelay(true);
  const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect', { signal });
    // A failure between two requests shows at the next one.
    return socket.on('error', () => undefined);
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

function exchange(socket: Socket, request: Buffer, timeoutMs: number): Promise<LoadResponse> {
  return new Promise((resolve, reject) => {
    const reader = createResponseReader();
    const timer = setTimeout(() => done(new Error('no response in time')), timeoutMs);
    const onData = (chunk: Buffer): void => {
      const response = reader(chunk);
      if (response) done(response);
    };
    const onEnd = (): void => done(new Error('the connection was closed'));
    const done = (outcome: LoadResponse | Error): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onEnd).off('error', done);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    socket.on('data', onData).on('close', onEnd).on('error', done);
    if (socket.destroyed) onEnd();
    else socket.write(request);
  });
}

/** Chunk by chunk, until the response is whole. */
function createResponseReader(): (chunk: Buffer) => LoadResponse | Error | undefined {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let head: ResponseHead | undefined;
  return (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    head ??= headOf(chunks);
    if (!head) return bytes > HEAD_BYTES_MAX ? new Error('a response whose head does not end') : undefined;
    if (Number.isNaN(head.length)) return new Error('a response without Content-Length');
    if (bytes < head.bodyAt + head.length) return undefined;
    const whole = chunks.length === 1 ? chunk : Buffer.concat(chunks, bytes);
    const { status, replayed, bodyAt, length } = head;
    return { status, replayed, body: whole.subarray(bodyAt, bodyAt + length) };
  };
}

interface ResponseHead {
  status: number;
  replayed: boolean;
  bodyAt: number;
  /** Of the body. */
  length: number;
}

function headOf(chunks: Buffer[]): ResponseHead | undefined {
  const start = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  const bodyAt = start.indexOf('\r\n\r\n') + 4;
  if (bodyAt === 3) return undefined;
  const text = start.toString('latin1', 0, bodyAt);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]),
    replayed: /\r\nidempotent-replayed: true\r\n/i.test(text),
    bodyAt,
    length: Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1]),
  };
}
