import { createHash } from 'node:crypto';
import { type Logger, pino } from 'pino';
import { onTestFinished } from 'vitest';
import { openConnection, type RawConnection } from '../../../tests/support/raw-connection.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import type { FrontLimits } from '../../http/front-limits.ts';
import type { Exchange, HttpFront, RequestHandler } from '../http-front.ts';

export type CreateFront = (handler: RequestHandler, limits: FrontLimits, log: Logger) => HttpFront;

/** None that a busy machine could meet; tests of a limit shorten it. */
export const TEST_LIMITS: FrontLimits = {
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 15_000,
  bodyTimeoutMs: 15_000,
  responseStallMs: 15_000,
  unreadBytesMax: 64 * 1024 * 1024,
  connectionsMax: 200,
};

/** A log whose lines a test reads. */
export function keptLog() {
  const lines: Array<Record<string, unknown>> = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

export interface RunningFront {
  front: HttpFront;
  port: number;
  url: string;
  connect(): Promise<RawConnection>;
}

/** Listens on a free port; closed when the test is over. */
export async function startFront(
  createFront: CreateFront,
  handler: RequestHandler,
  limits: Partial<FrontLimits> = {},
): Promise<RunningFront> {
  const front = createFront(handler, { ...TEST_LIMITS, ...limits }, SILENT);
  const port = await front.listen('127.0.0.1', 0);
  onTestFinished(() => front.close(0));
  return { front, port, url: `http://127.0.0.1:${port}`, connect: () => openConnection(port) };
}

/** Responds with a digest of the body, its size, and the request line. */
export function describeRequest(exchange: Exchange): void {
  const hash = createHash('sha256');
  let bytes = 0;
  exchange.readBody(
    (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
    },
    () => {
      const { method, path, query, requestId, headers } = exchange;
      const requested = { method, path, query, requestId, headers: Object.fromEntries(headers) };
      responseJson(exchange, { ...requested, bytes, sha256: hash.digest('hex') });
    },
  );
}

export function responseJson(exchange: Exchange, response: unknown): void {
  exchange.respond(200, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify(response)));
}

export function sha256(body: Buffer): string {
  return createHash('sha256').update(body).digest('hex');
}
