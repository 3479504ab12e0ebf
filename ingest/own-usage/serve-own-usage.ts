import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { OwnBatch, SendBatch } from '../../infra/own-usage/usage-writer.ts';
import { errorBody } from '../../schemas/error-codes.ts';
import { Fatal } from '../../schemas/failures.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import {
  internalAuthorization,
  OWN_USAGE_BYTES_MAX,
  OWN_USAGE_PATH,
} from '../../schemas/stored/own-usage.ts';

export interface OwnUsageListenerDeps {
  send: SendBatch;
  /** What the caller shows. Read when it is first needed. */
  token: () => Buffer;
  log: Logger;
  /** Called when the log or the keys cannot be trusted any more. */
  fail: (error: Fatal) => void;
}

/** Serves the control side's batches on a port that this machine alone reaches, and nothing else. */
export function serveOwnUsage({ send, token, log, fail }: OwnUsageListenerDeps): RequestListener {
  async function serve(request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> {
    try {
      const body = await readBounded(request);
      if (!body) return void response.writeHead(413).end();
      const { status, body: written } = await send({ ...target, body });
      response.writeHead(status, { 'content-type': 'application/json' }).end(written);
    } catch (err) {
      if (err instanceof Fatal) fail(err);
      log.warn({ err }, 'usage of our own could not be written');
      const rejection = { code: 'unavailable', message: 'The usage could not be written.' } as const;
      if (!response.headersSent) response.writeHead(503).end(errorBody(rejection, ''));
      else response.destroy();
    }
  }

  return (request, response) => {
    const target = request.method === 'POST' ? targetOf(request.url ?? '') : undefined;
    if (!target || !isTrusted(request, token())) return void response.writeHead(404).end();
    void serve(request, response, target);
  };
}

type Target = Omit<OwnBatch, 'body'>;

function targetOf(url: string): Target | undefined {
  const [path, query] = url.split('?');
  if (path !== OWN_USAGE_PATH) return undefined;
  const given = new URLSearchParams(query);
  const environment = given.get('environment');
  return environment === null ? undefined : { environment, change: changeOf(given) };
}

function changeOf(given: URLSearchParams): ChangeRows | undefined {
  const number = given.get('change');
  if (number === null) return undefined;
  const [voids, of] = [given.get('voids') === 'true', Number(given.get('of') ?? 0)];
  return { number: Number(number), voids, ...(of > 0 ? { of } : {}) };
}

function isTrusted({ headers }: IncomingMessage, token: Buffer): boolean {
  const shown = Buffer.from(headers.authorization ?? '');
  const expected = Buffer.from(internalAuthorization(token));
  // mutant: own-usage-without-its-token
  return shown.length === expected.length && timingSafeEqual(shown, expected);
}

/** Undefined: there is more than a batch may have. */
async function readBounded(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > OWN_USAGE_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
