import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { type KeyExportRequest, readKeyExportTarget } from '../../schemas/stored/key-export.ts';
import { exportKeys, type KeyExportDeps } from './export-keys.ts';

export interface KeyExportListenerDeps extends KeyExportDeps {
  /** What the caller shows: both processes derive it from the server's secret. */
  token: Buffer;
  log: Logger;
}

/**
 * Serves the data plane's requests for keys, one at a time, and passes every other request to `next`. Without
 * the token the path behaves as an unknown path.
 */
export function serveKeyExport(deps: KeyExportListenerDeps, next: RequestListener): RequestListener {
  let running = false;

  async function sendKeys(wanted: KeyExportRequest, response: ServerResponse): Promise<void> {
    running = true;
    try {
      response.setHeader('content-type', 'application/octet-stream');
      await pipeline(exportKeys(deps, wanted), response);
      deps.log.info(wanted, 'gave the data plane its keys');
    } catch (err) {
      // The stream ends without its trailer, and the data plane requests it again.
      deps.log.warn({ err, ...wanted }, 'the keys of the data plane could not be given');
      response.destroy();
    } finally {
      running = false;
    }
  }

  return (request, response) => {
    const wanted = readKeyExportTarget(request.url ?? '');
    if (!wanted || !isTrusted(request, deps.token)) return next(request, response);
    if (!running) return void sendKeys(wanted, response);
    response.writeHead(503).end();
  };
}

function isTrusted({ headers }: IncomingMessage, token: Buffer): boolean {
  const shown = Buffer.from(headers.authorization?.replace(/^Internal /, '') ?? '', 'base64url');
  return shown.length === token.length && timingSafeEqual(shown, token);
}
