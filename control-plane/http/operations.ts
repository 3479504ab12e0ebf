import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Pool } from 'pg';
import type { Clock } from '../../infra/ports/clock.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { appliedPreferences, type Preferences, readPreferences } from '../../schemas/http/preferences.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { type Route, readsBody } from '../../schemas/route.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import type { Authorise } from './auth.ts';
import { CommittedResponse } from './committed-response.ts';
import { etagOf } from './etag.ts';
import { type Response, type RunChange, requestKeyOf } from './idempotent.ts';
import type { Mounted, Serve } from './mount-routes.ts';
import { numbersAsText } from './numbers-as-text.ts';
import { withOtherMode } from './other-mode.ts';
import { PrintedJson } from './printed-json.ts';
import type { PublicPages } from './public-page.ts';
import { type TakeRequest, takeOrReject } from './rate-limit.ts';
import { RawResponse } from './raw-response.ts';
import { createReadInput, rejectUnknown, searchOf } from './read-input.ts';
import type { Caller, Database, Handler, HandlerInput, Handlers } from './request-context.ts';
import { type InPlace, shareOf } from './request-slots.ts';

export interface OperationDeps {
  handlers: Handlers;
  pages: PublicPages;
  authorise: Authorise;
  takeRequest: TakeRequest;
  inPlace: InPlace;
  runChange: RunChange;
  pool: Pool;
  clock: Clock;
}

/** Every row of the route table with the function that serves it. */
export function createOperations(deps: OperationDeps): Mounted[] {
  return Object.entries<Route>(ROUTES).map(([operationId, route]) => ({
    operationId,
    route,
    serve: serveOf(operationId as OperationId, route, deps),
  }));
}

function serveOf(operationId: OperationId, route: Route, deps: OperationDeps): Serve {
  const page = Object.hasOwn(deps.pages, operationId) && deps.pages[operationId as keyof PublicPages];
  if (page) return servePage(page, route);
  const handler = Object.hasOwn(deps.handlers, operationId) && deps.handlers[operationId as keyof Handlers];
  // The table ties each handler to its own route; here they all have one type.
  return handler
    ? serveKeyed(operationId, route, handler as unknown as Handler<Route>, deps)
    : serveElsewhere;
}

function servePage(page: PublicPages[keyof PublicPages], route: Route): Serve {
  // Pages for people keep parameters of their own in their address, and links to them may have some.
  const isForPeople = /^\/(docs|console|graphql)\b/.test(route.path);
  return async (ctx, params) => {
    const search = searchOf(ctx);
    if (search && !isForPeople) rejectUnknown(search, route);
    const { authorization } = ctx.headers;
    const caller = { authorization, localPort: ctx.socket.localPort };
    const { status = 200, mediaType, headers = {}, body, encoded } = await page(params, caller);
    ctx.status = status;
    ctx.set(headers);
    if (encoded) ctx.vary('Accept-Encoding');
    if (ctx.response.get('ETag') && ctx.fresh) {
      ctx.status = NOT_MODIFIED;
      return;
    }
    ctx.set('Content-Type', mediaType);
    ctx.body = encoded ? inEncoding(ctx, body, encoded) : body;
  };
}

/** The smallest form that the client accepts. */
function inEncoding(ctx: Context, body: string | Buffer, encoded: { br: Buffer; gzip: Buffer }) {
  // Asked one by one: together they come in the order of the client, which names gzip first.
  const chosen = (['br', 'gzip'] as const).find((one) => ctx.acceptsEncodings(one) === one);
  if (chosen === undefined) return body;
  ctx.set('Content-Encoding', chosen);
  return encoded[chosen];
}

/** The data plane serves it on the public port before the request reaches this app. */
const serveElsewhere: Serve = () => {
  throw new Rejected('not_found', 'The data plane serves this operation on the public port.');
};

function serveKeyed(operationId: string, route: Route, handler: Handler<Route>, deps: OperationDeps): Serve {
  const readInput = createReadInput(route);

  return async (ctx, params) => {
    const caller = await deps.authorise(ctx, { route, params });
    // For a customer token this was asked before its customer was read (customer-token-auth.ts).
    if (caller.kind !== 'customer') takeOrReject(ctx, deps.takeRequest, caller);
    const preferences = applyPreferences(ctx, route);
    const named = withOwnCustomer(params, caller);
    await deps.inPlace(caller, () => serve(ctx, named, { caller, preferences }));
  };

  async function serve(
    ctx: Context,
    params: Record<string, string>,
    { caller, preferences }: { caller: Caller; preferences: Preferences },
  ): Promise<void> {
    const input = await readInput(ctx, params);
    const requestId = String(ctx.state.requestId);
    const { headers } = ctx;
    const mediaType = acceptedType(ctx, route);
    const nowMs = deps.clock.nowMs();
    const onClientClosed = (listener: () => void) =>
      void ctx.res.once('close', () => ctx.res.writableFinished || listener());
    const context = { ...caller, operationId, requestId, nowMs, headers, mediaType, onClientClosed };
    const responding = { preferences, isOfOneCustomer: caller.customerId !== undefined };
    const handle = async (db: Database) => handler({ ...context, db }, input);
    const run = async (db: Database) => printed(route, await handle(db));
    try {
      if (isPlainRead(ctx, route)) {
        const output = await handle(deps.pool);
        if (output instanceof RawResponse) return respondRaw(ctx, output);
        return respond(ctx, route, responding, printed(route, output));
      }
      const change = changeOf(ctx, route, caller, input);
      // Also where nothing is kept under it, as of what is denied.
      requestKeyOf(change);
      const { replayed, ...responded } = route.commitsItself
        ? committed(await handler({ ...context, db: deps.pool, change }, input))
        : await deps.runChange(change, run);
      if (replayed) ctx.set('Idempotent-Replayed', 'true');
      respond(ctx, route, responding, responded);
    } catch (error) {
      // Runs outside of any transaction.
      throw await withOtherMode(deps.pool, caller, error, input);
    }
  }
}

/** A customer token names its own customer by several names. */
function withOwnCustomer(params: Record<string, string>, { customerId }: Caller): Record<string, string> {
  return customerId === undefined || params.customerId === undefined ? params : { ...params, customerId };
}

/** Which of the request's preferences apply; without an input there is nothing to handle strictly. */
function applyPreferences(ctx: Context, route: Route): Preferences {
  const { isStrict, numbersAsText } = readPreferences(ctx.headers.prefer as string | undefined);
  const preferences = { isStrict: isStrict && readsBody(route), numbersAsText };
  const applied = appliedPreferences(preferences);
  if (applied !== undefined) ctx.set('Preference-Applied', applied);
  return preferences;
}

const JSON_TYPE = 'application/json';

function acceptedType(ctx: Context, { furtherMediaTypes }: Route): string {
  if (!furtherMediaTypes) return JSON_TYPE;
  ctx.vary('Accept');
  return ctx.accepts(JSON_TYPE, ...Object.keys(furtherMediaTypes)) || JSON_TYPE;
}

function respondRaw(ctx: Context, { mediaType, body }: RawResponse): void {
  ctx.status = 200;
  ctx.set('Content-Type', mediaType);
  if (typeof body === 'string') ctx.body = body;
  else respondWithStream(ctx, body);
}

/** A stream that breaks off ends the connection: its client would take a part for the whole. */
function respondWithStream(ctx: Context, body: Readable): void {
  // nginx passes each piece on at once.
  ctx.set('X-Accel-Buffering', 'no');
  // Nothing would read it.
  if (ctx.method === 'HEAD') return void body.destroy();
  body.once('close', () => body.readableEnded || ctx.res.destroy());
  ctx.body = body;
}

function committed(output: unknown): Response {
  if (output instanceof CommittedResponse) return output;
  throw new Defect('an operation that commits itself has a committed response');
}

const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

function printed({ status }: Route, output: unknown): { status: number; body: string } {
  if (status === NO_CONTENT) return { status, body: '' };
  return { status, body: output instanceof PrintedJson ? output.text : exactJson(output) };
}

function isPlainRead(ctx: Context, { method, isRead, ignoresIdempotencyKey }: Route): boolean {
  const hasKey = ctx.headers['idempotency-key'] !== undefined && !ignoresIdempotencyKey;
  return method === 'GET' || (isRead === true && !hasKey);
}

interface Responding {
  preferences: Preferences;
  /** With a customer token: no cache stores it. */
  isOfOneCustomer: boolean;
}

function respond(
  ctx: Context,
  route: Route,
  { preferences, isOfOneCustomer }: Responding,
  { status, body }: { status: number; body: string },
): void {
  ctx.status = status;
  if (status === NO_CONTENT) return;
  if (route.cachedSeconds && !isOfOneCustomer) {
    ctx.set('Cache-Control', `private, max-age=${route.cachedSeconds}`);
    ctx.vary('Authorization, X-API-Key, Prefer');
  }
  // The ETag of the object, independent of its number format: clients send it back in If-Match.
  if (route.etag) ctx.set('ETag', etagOf(body));
  if (route.etag && ctx.fresh) {
    ctx.status = NOT_MODIFIED;
    return;
  }
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = preferences.numbersAsText ? numbersAsText(responseOf(route, status), body) : body;
}

function responseOf({ response, otherwise }: Route, status: number) {
  return otherwise?.status === status ? otherwise.response : response;
}

/** A signed call is not replayed by a key: it would get a response before its signature is checked. */
function changeOf(ctx: Context, route: Route, caller: Caller, { bodyText }: HandlerInput<Route>) {
  const { method, path } = ctx;
  const { environment, kind, scopes } = caller;
  // Joined by a character that no key may contain: two keys are rejected, and not read as one with a comma.
  const key = kind === undefined ? undefined : ctx.req.headersDistinct['idempotency-key']?.join('\n');
  // The response contains a credential: it is replayed only to a caller that could create one with its
  // scopes.
  // mutant: replayed-to-any-key
  const boundTo = route.returnsCredential ? [...scopes].sort() : [];
  return { environment, method, path, key, bodyText, boundTo, share: shareOf(caller) };
}
