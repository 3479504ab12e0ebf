import { parseExact } from '../../support/exact.ts';

export interface RawRequest {
  origin: string;
  key: string;
  /** Below /api/v1. */
  path: string;
  body: string | Buffer;
  headers?: Record<string, string>;
}

/** A whole POST as it goes over a connection: for senders that must not spend time on HTTP. */
export function rawRequest({ origin, key, path, body, headers = {} }: RawRequest): Buffer {
  const content = Buffer.from(body);
  const lines = [
    `POST /api/v1${path} HTTP/1.1`,
    `Host: ${new URL(origin).host}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${content.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content]);
}

export interface RawResponse {
  status: number;
  replayed: boolean;
  body: unknown;
}

/** Undefined while the response is not whole. */
export function readRawResponse(response: Buffer): RawResponse | undefined {
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
