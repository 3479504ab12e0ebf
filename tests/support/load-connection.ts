import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** One response as it arrived. */
export interface LoadResponse {
  status: number;
  /** The `Idempotent-Replayed` header of a single event. */
  replayed: boolean;
  /** Of the connection's memory: the next request's response overwrites it. */
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
const READ_BYTES = 64 * 1024;
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

/** Raw sockets: an HTTP client costs as much of the machine as the server that is measured. */
export function createLoadConnection(url: URL, timeoutMs = RESPONSE_TIMEOUT_MS): LoadConnection {
  const reader = createResponseReader();
  let socket: Socket | undefined;
  return {
    async open() {
      socket ??= await open(url, reader);
    },
    async ask(request) {
      socket ??= await open(url, reader);
      try {
        return await exchange({ socket, reader, timeoutMs }, request);
      } catch (error) {
        socket.destroy();
        socket = undefined;
        throw error;
      }
    },
    close: () => socket?.destroy(),
  };
}

/**
 * Reads into memory that stays: Node's own 64 KiB for each read call for a collection of the whole heap
 * several times a second, and its pauses are then in every latency that is measured here.
 */
async function open(url: URL, reader: ResponseReader): Promise<Socket> {
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const port = Number(url.port || (isSecure ? 443 : 80));
  const onread = {
    buffer: Buffer.alloc(READ_BYTES),
    callback: (bytes: number, memory: Uint8Array): boolean => {
      reader.add(memory, bytes);
      return true;
    },
  };
  const to = { host, port, onread };
  const socket = isSecure ? connectSecurely({ ...to, servername: host }) : connect(to);
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

interface Exchange {
  socket: Socket;
  reader: ResponseReader;
  timeoutMs: number;
}

function exchange({ socket, reader, timeoutMs }: Exchange, request: Buffer): Promise<LoadResponse> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => done(new Error('no response in time')), timeoutMs);
    const onEnd = (): void => done(new Error('the connection was closed'));
    const done = (outcome: LoadResponse | Error): void => {
      clearTimeout(timer);
      socket.off('close', onEnd).off('error', done);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    reader.begin(done);
    socket.on('close', onEnd).on('error', done);
    if (socket.destroyed) onEnd();
    else socket.write(request);
  });
}

interface ResponseReader {
  /** Forgets what came before; calls once, with the whole response or with what is wrong with it. */
  begin(onWhole: (outcome: LoadResponse | Error) => void): void;
  add(memory: Uint8Array, bytes: number): void;
}

/** Its memory grows to the largest response. */
function createResponseReader(): ResponseReader {
  let memory = Buffer.alloc(READ_BYTES);
  let bytes = 0;
  let head: ResponseHead | undefined;
  let onOutcome: ((outcome: LoadResponse | Error) => void) | undefined;

  function outcome(): LoadResponse | Error | undefined {
    head ??= headOf(memory.subarray(0, bytes));
    if (!head) return bytes > HEAD_BYTES_MAX ? new Error('a response whose head does not end') : undefined;
    const { status, replayed, bodyAt, length } = head;
    if (Number.isNaN(length)) return new Error('a response without Content-Length');
    if (length > RESPONSE_BYTES_MAX) return new Error(`a response of ${length} bytes`);
    if (bytes < bodyAt + length) return undefined;
    return { status, replayed, body: memory.subarray(bodyAt, bodyAt + length) };
  }

  return {
    begin(onWhole) {
      bytes = 0;
      head = undefined;
      onOutcome = onWhole;
    },
    add(chunk, length) {
      const next = bytes + length;
      // Nothing was requested, or the response is whole already: no more of it is kept.
      if (!onOutcome) return;
      if (next > memory.length) memory = Buffer.concat([memory], next * 2);
      memory.set(chunk.subarray(0, length), bytes);
      bytes = next;
      const found = outcome();
      if (found === undefined) return;
      const say = onOutcome;
      onOutcome = undefined;
      say(found);
    },
  };
}

interface ResponseHead {
  status: number;
  replayed: boolean;
  bodyAt: number;
  /** Of the body. */
  length: number;
}

function headOf(start: Buffer): ResponseHead | undefined {
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
