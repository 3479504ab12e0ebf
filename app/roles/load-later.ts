import type { RoleContext } from './role-process.ts';

/**
 * After the start and the first requests: loading the modules of GraphQL takes half a second of CPU, and
 * blocks the event loop for a part of it. A process that ends sooner is spared it.
 */
const LATER_MS = 20_000;

/** Loads what the first request that needs it would wait for. When it fails, that request tries again. */
export function loadLater(
  { closer, log }: Pick<RoleContext, 'closer' | 'log'>,
  load: () => Promise<unknown>,
  laterMs = LATER_MS,
): void {
  const timer = setTimeout(() => {
    load().catch((err: unknown) => log.warn({ err }, 'modules could not be loaded in advance'));
  }, laterMs);
  timer.unref();
  closer.add('loading', { drain: () => clearTimeout(timer) });
}
