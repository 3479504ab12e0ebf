import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { OPERATOR_PATHS } from '../../infra/platform/operator-paths.ts';
import { Rejected } from '../../schemas/failures.ts';
import { API_BASE, isOpenToPages, type Route } from '../../schemas/route.ts';
import { redirectBrowsers } from '../console/redirect-browsers.ts';
import { allowAnyOrigin, respondToPreflight } from './cors.ts';
import { createPathTree } from './path-tree.ts';
import { reject } from './respond.ts';

/** Serves one operation. `params` are decoded. */
export type Serve = (ctx: Context, params: Record<string, string>) => Promise<void>;

/** An operation to be mounted. */
export interface Mounted {
  operationId: string;
  route: Route;
  serve: Serve;
}

/**
 * The first checks of every request, in this order: version, path, method. The operation makes the
 * others. Where a concrete and a templated path both match, the concrete one wins, for any method: GET
 * /usage/events/batch is not customer `events`.
 */
export function mountRoutes(operations: Mounted[]): Middleware[] {
  const router = new Router({ sensitive: true, strict: true });
  const paths = [...new Set(operations.map(({ route }) => route.path))].sort(concreteFirst);
  const mounted = paths.map((path) => [path, operations.filter(({ route }) => route.path === path)] as const);
  for (const [path, here] of mounted) {
    router.all(path.replace(/\{(\w+)\}/g, ':$1'), (ctx) => dispatch(ctx, ctx.params, here));
  }
  return [
    withoutTrailingSlash,
    plainPaths(mounted),
    checkVersion,
    router.routes() as unknown as Middleware,
    redirectBrowsers,
    noSuchPath,
  ];
}

/** The fallback: the router tries one pattern after the other, 25 µs for the last. */
function plainPaths(mounted: ReadonlyArray<readonly [path: string, here: Mounted[]]>): Middleware {
  const tree = createPathTree(mounted);
  return (ctx, next) => {
    const found = tree.find(ctx.path);
    return found ? dispatch(ctx, found.params, found.value) : next();
  };
}

/**
 * One trailing slash is accepted, since many clients add it; from here on the path, also as part of a key, is
 * without it. Not for an operator's page, which a proxy restricts by its exact path.
 */
const withoutTrailingSlash: Middleware = (ctx, next) => {
  const shorter = ctx.path.length > 1 && ctx.path.endsWith('/') ? ctx.path.slice(0, -1) : undefined;
  if (shorter !== undefined && !OPERATOR_PATHS.has(shorter)) ctx.path = shorter;
  return next();
};

const checkVersion: Middleware = (ctx, next) => {
  const version = /^\/api\/(v\d[^/]*)/i.exec(ctx.path)?.[1];
  if (version !== undefined && version !== 'v1') {
    throw new Rejected('unsupported_api_version', `There is no API version ${version}; use ${API_BASE}.`);
  }
  return next();
};

async function dispatch(ctx: Context, params: Record<string, string>, here: Mounted[]): Promise<void> {
  const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
  if (isFromBrowser(here) && (ctx.get('Origin') !== '' || isCached(here))) allowAnyOrigin(ctx);
  if (isFromBrowser(here) && method === 'OPTIONS') return respondToPreflight(ctx, allowed(here));
  const operation = here.find(({ route }) => route.method === method);
  if (!operation) {
    ctx.set('Allow', allowed(here).join(', '));
    throw new Rejected('method_not_allowed', `This path supports ${allowed(here).join(', ')}.`);
  }
  ctx.state.operationId = operation.operationId;
  await operation.serve(ctx, params);
}

const noSuchPath: Middleware = (ctx) => {
  reject(ctx, {
    code: 'not_found',
    message: 'This path does not exist. See /docs or /openapi.json.',
  });
};

/** A cache has to know that responses differ by origin, also from one to a client that sends none. */
function isCached(here: Mounted[]): boolean {
  return here.some(({ route }) => route.fromBrowser === true);
}

function isFromBrowser(here: Mounted[]): boolean {
  return here.some(({ route }) => isOpenToPages(route));
}

function allowed(here: Mounted[]): string[] {
  const methods = here.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  return isFromBrowser(here) ? [...methods, 'OPTIONS'] : methods;
}

/** By segments: a literal before a parameter. */
function concreteFirst(a: string, b: string): number {
  return sortable(a) < sortable(b) ? -1 : 1;
}

function sortable(path: string): string {
  return path.replaceAll('{', '\uffff');
}
