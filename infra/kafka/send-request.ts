import type { Writable } from 'node:stream';
import { bytesOf } from './record-batch.ts';

/** The part of kafkajs' inner connection that is used. */
interface KafkaConnection {
  clientId: string;
  socket: Writable;
  /** With a login where one is configured, again when it has run out. */
  authenticate(): Promise<void>;
  isConnected(): boolean;
  nextCorrelationId(): number;
  requestQueue: {
    push(request: {
      entry: object;
      expectResponse: true;
      requestTimeout: null;
      sendRequest: () => void;
    }): void;
    maybeThrottle(forMs: number): void;
  };
}

/** A broker of kafkajs. */
export interface Connected {
  connectionPool: { getConnection(): Promise<KafkaConnection> };
  disconnect(): Promise<void>;
}

interface KafkaRequest {
  apiKey: number;
  apiVersion: number;
  apiName: string;
  body: readonly Uint8Array[];
}

/**
 * Sends a request whose bytes are made, without the encoder of kafkajs, which copies each byte ten times.
 * Order, time-outs and reconnecting stay those of kafkajs. Returns the response and the connection it came
 * over.
 */
export async function sendRequest(
  broker: Connected,
  { body, ...api }: KafkaRequest,
): Promise<{ response: Buffer; connection: KafkaConnection }> {
  const connection = await broker.connectionPool.getConnection();
  await connection.authenticate();
  const correlationId = connection.nextCorrelationId();
  const pieces = [headOf(connection.clientId, correlationId, { body, ...api }), ...body];
  try {
    const { payload } = await new Promise<{ payload: Buffer }>((resolve, reject) => {
      if (!connection.isConnected()) throw new Error('The connection to the broker is closed.');
      connection.requestQueue.push({
        entry: { ...api, correlationId, resolve, reject },
        expectResponse: true,
        requestTimeout: null,
        sendRequest: () => writeAll(connection.socket, pieces),
      });
    });
    return { response: payload, connection };
  } catch (error) {
    // As kafkajs does: the next caller connects again.
    if ((error as Error).name === 'KafkaJSConnectionClosedError') await broker.disconnect();
    throw error;
  }
}

function headOf(clientId: string, correlationId: number, request: KafkaRequest): Buffer {
  const client = Buffer.from(clientId);
  const head = Buffer.alloc(14 + client.length);
  head.writeInt32BE(head.length - 4 + bytesOf(request.body), 0);
  head.writeInt16BE(request.apiKey, 4);
  head.writeInt16BE(request.apiVersion, 6);
  head.writeInt32BE(correlationId, 8);
  head.writeInt16BE(client.length, 12);
  head.set(client, 14);
  return head;
}

/** As one write: what is written while a stream is corked goes to the system in one call. */
function writeAll(socket: Writable, pieces: readonly Uint8Array[]): void {
  socket.cork();
  for (const piece of pieces) if (piece.length > 0) socket.write(piece);
  socket.uncork();
}
