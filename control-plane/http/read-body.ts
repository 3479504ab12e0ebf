import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { Rejected } from '../../schemas/failures.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';

/** For the whole body. A slower client is rejected and disconnected. */
const BODY_TIMEOUT_MS = 30_000;

/** What a page's `sendBeacon` sends by default; any other type would cost it a preflight. */
const BEACON_TYPE = 'text/plain';

export interface BodyOptions {
  /** Clients may send the same JSON as `text/plain`. */
  fromBrowser?: boolean | undefined;
  /** An empty body is accepted with any media type: `curl -d ''` names that of a form. */
  isOptional?: boolean;
  timeoutMs?: number;
  bytesMax?: number;
}

/** The text of a JSON body, not parsed. Throws Rejected: media type (415), size (413), UTF-8 (400). */
export async function readBodyText(
  ctx: Context,
  {
    fromBrowser = false,
    isOptional = false,
    timeoutMs = BODY_TIMEOUT_MS,
    bytesMax = USAGE_LIMITS.bodyBytesMax,
  }: BodyOptions = {},
): Promise<string> {
  if (isOptional && !announcesBody(ctx)) return '';
  checkMediaType(ctx, fromBrowser ? ['application/json', BEACON_TYPE] : ['application/json']);
  const announced = Number(ctx.get('content-length') || 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const body = await collect(ctx, bytesMax, timeoutMs);
  try {
    return UTF_8.decode(body);
  } catch {
    throw new Rejected('invalid_json', 'The body is not valid UTF-8.');
  }
}

function announcesBody(ctx: Context): boolean {
  return ctx.get('transfer-encoding') !== '' || Number(ctx.get('content-length')) > 0;
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function checkMediaType(ctx: Context, accepted: string[]): void {
  const { 'content-type': type = 'application/json' } = ctx.headers;
  if (!accepted.includes(type.split(';', 1)[0]?.trim().toLowerCase() ?? '')) {
    throw new Rejected('unsupported_media_type', `Unsupported Content-Type. Send ${accepted.join(' or ')}.`);
  }
  const encoding = ctx.get('content-encoding').trim().toLowerCase();
  if (encoding !== '' && encoding !== 'identity') {
    throw new Rejected('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
}

const readBefore = new WeakMap<IncomingMessage, Buffer>();

/** For later readers of this request's body: it was read already. */
export function keepBody(request: IncomingMessage, body: Buffer): void {
  readBefore.set(request, body);
}

async function collect(ctx: Context, bytesMax: number, timeoutMs: number): Promise<Buffer> {
  const { req } = ctx;
  const kept = readBefore.get(req);
  if (kept) return kept;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    req.destroy();
  }, timeoutMs);
  try {
    return await boundedBytes(req, bytesMax, () => tooLarge(bytesMax));
  } catch (error) {
    if (isLate) throw new Rejected('invalid_request', 'The body was not received in time.');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Not by `for await`: leaving that early would destroy the connection before the rejection is sent. */
function boundedBytes(request: IncomingMessage, bytesMax: number, onTooMany: () => Error): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        request.removeAllListeners('data').resume();
        reject(onTooMany());
      } else {
        chunks.push(chunk);
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => reject(new Rejected('invalid_request', 'The body ended early.')));
    request.once('error', reject);
  });
}

/**
 * Discards the rest of the body as it arrives. If the server closed the connection with the response, a
 * client that still sends would see a reset, and lose the response.
 */
function tooLarge(bytesMax: number): Rejected {
  return new Rejected('payload_too_large', `The body is too large. The maximum is ${bytesMax} bytes.`);
}
