import type { Logger } from 'pino';
import type { HttpFront, RequestHandler } from '../ports/http-front.ts';
import type { FrontLimits } from './front-limits.ts';

/** The native front, or the node:http front where the native binary does not load. */
export async function chooseFront(
  handler: RequestHandler,
  limits: FrontLimits,
  log: Logger,
  loadNative: () => Promise<NativeFront> = () => import('./uws-front.ts'),
): Promise<HttpFront> {
  try {
    const { createUwsFront } = await loadNative();
    return createUwsFront(handler, limits, log);
  } catch (err) {
    log.warn({ err }, 'uWebSockets.js does not load here: node:http takes its place, at a higher cost');
    const { createNodeFront } = await import('./node-front.ts');
    return createNodeFront(handler, limits, log);
  }
}

type NativeFront = typeof import('./uws-front.ts');
