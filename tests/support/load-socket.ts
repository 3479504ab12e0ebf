import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One keep-alive connection, one request at a time, and no more parsing than the count of created events. */
export interface LoadSocket {
  /** Resolves with how many of the batch's events were created. Rejects on any status but 200. */
  send(request: Buffer): Promise<number>;
  close(): void;
}

const RESPONSE_TIMEOUT_MS = 30_000;

export async function openLoadSocket(host: string, port: number): Promise<LoadSocket> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, 'connect');
  socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy(new Error('no response in time')));
  let settle: { resolve: (created: number) => void; reject: (error: Error) => void } | undefined;
  let response = emptyResponse();
  const fail = (error: Error): void => settle?.reject(error);
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the connection was closed')));
  socket.on('data', (chunk) => {
    response = takeChunk(response, chunk);
    if (response.missing > 0) return;
    const { created } = response;
    response = emptyResponse();
    if (created === undefined) fail(new Error('a response without a count of created events'));
    else settle?.resolve(created);
  });
  return {
    send: (request) =>
      send(socket, request, (settler) => {
        settle = settler;
      }),
    close: () => socket.destroy(),
  };
}

type Settler = { resolve: (created: number) => void; reject: (error: Error) => void };

function send(socket: Socket, request: Buffer, keep: (settler: Settler) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    keep({ resolve, reject });
    socket.write(request);
  });
}

interface PartialResponse {
  /** What came before the head was whole: rarely anything. */
  head: Buffer;
  /** Bytes of the body still to come; infinite until the head was read. */
  missing: number;
  created: number | undefined;
}

function emptyResponse(): PartialResponse {
  return { head: Buffer.alloc(0), missing: Number.POSITIVE_INFINITY, created: undefined };
}

/** The summary lies within this many bytes of the body. */
const SUMMARY_BYTES = 256;

function takeChunk(response: PartialResponse, chunk: Buffer): PartialResponse {
  if (response.missing !== Number.POSITIVE_INFINITY)
    return { ...response, missing: response.missing - chunk.length };
  const head = response.head.length === 0 ? chunk : Buffer.concat([response.head, chunk]);
  const bodyAt = head.indexOf('\r\n\r\n') + 4;
  const enough = bodyAt > 3 && head.length >= bodyAt + SUMMARY_BYTES;
  if (!enough) return { ...response, head };
  const text = head.toString('latin1', 0, bodyAt + SUMMARY_BYTES);
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
  const created = text.startsWith('HTTP/1.1 200') ? /"created":(\d+)/.exec(text)?.[1] : undefined;
  if (created === undefined || Number.isNaN(length)) throw new Error(`unexpected response: ${text}`);
  return { head, missing: bodyAt + length - head.length, created: Number(created) };
}
