import type { Context } from 'koa';
import type { Pool } from 'pg';
import { Rejected } from '../schemas/failures.ts';
import type { Route } from '../schemas/route.ts';
import { type OperationId, ROUTES } from '../schemas/routes.ts';
import { exactJson } from '../schemas/rules/exact-json.ts';
import type { Authorise } from './auth.ts';
import type { RunChange } from './idempotent.ts';
import type { Mounted, Serve } from './mount-routes.ts';
import { createReadInput } from './read-input.ts';
import type { Database, Handler, HandlerInput, Handlers } from './request-context.ts';
import type { PublicPages } from './routes/service.ts';

export interface OperationDeps {
  handlers: Handlers;
  pages: PublicPages;
  authorise: Authorise;
  runChange: RunChange;
  pool: Pool;
}

/** Every row of the route table with what answers it. */
export function createOperations(deps: OperationDeps): Mounted[] {
  return Object.entries<Route>(ROUTES).map(([operationId, route]) => ({
    operationId,
    route,
    serve: serveOf(operationId as OperationId, route, deps),
  }));
}

function serveOf(operationId: OperationId, route: Route, deps: OperationDeps): Serve {
  const page = Object.hasOwn(deps.pages, operationId) && deps.pages[operationId as keyof PublicPages];
  if (page) return servePage(page);
  const handler = Object.hasOwn(deps.handlers, operationId) && deps.handlers[operationId as keyof Handlers];
  // The table ties each handler to its own route; here they are all one.
  return handler ? serveKeyed(route, handler as unknown as Handler<Route>, deps) : serveElsewhere;
}

function servePage(page: PublicPages[keyof PublicPages]): Serve {
  return async (ctx) => {
    const { status, mediaType, body } = await page();
    ctx.status = status;
    ctx.set('Content-Type', mediaType);
    ctx.body = body;
  };
}

/** The data plane answers it on the public port before anything comes here. */
const serveElsewhere: Serve = () => {
  throw new Rejected('not_found', 'This operation is answered by the data plane, on the public port.');
};

function serveKeyed(route: Route, handler: Handler<Route>, deps: OperationDeps): Serve {
  const readInput = createReadInput(route);

  async function answer(ctx: Context, environment: string, input: HandlerInput<Route>, db: Database) {
    const output = await handler({ environment, requestId: String(ctx.state.requestId), db }, input);
    return { status: route.status, body: exactJson(output) };
  }

  return async (ctx, params) => {
    const environment = await deps.authorise(ctx, route.access);
    const input = await readInput(ctx, params);
    const { status, body, replayed } =
      route.method === 'GET'
        ? { ...(await answer(ctx, environment, input, deps.pool)), replayed: false }
        : await deps.runChange(changeOf(ctx, environment, input), (client) =>
            answer(ctx, environment, input, client),
          );
    if (replayed) ctx.set('Idempotent-Replayed', 'true');
    ctx.status = status;
    ctx.set('Content-Type', 'application/json');
    ctx.body = body;
  };
}

function changeOf(ctx: Context, environment: string, { bodyText }: HandlerInput<Route>) {
  const { method, path } = ctx;
  const header = ctx.headers['idempotency-key'];
  return { environment, method, path, key: header === undefined ? undefined : String(header), bodyText };
}
