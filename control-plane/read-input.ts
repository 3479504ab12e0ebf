import type { Context } from 'koa';
import { type TSchema, Type } from 'typebox';
import { Rejected } from '../schemas/failures.ts';
import { type Route, readsBody } from '../schemas/route.ts';
import { faultyText } from '../schemas/rules/exact-json.ts';
import { type Check, checkOf, textCheckOf } from './json-schema.ts';
import { readBodyText } from './read-body.ts';
import type { HandlerInput } from './request-context.ts';
import { ignoredFieldsHeader, unknownFields } from './unknown-fields.ts';

/** Reads and checks what a request says. Throws Rejected: media type, size, JSON, then fields. */
export type ReadInput = (
  ctx: Context,
  params: Record<string, string>,
) => HandlerInput<Route> | Promise<HandlerInput<Route>>;

/** Once per operation, when the app is made; its checks are compiled with the first request. */
export function createReadInput(route: Route): ReadInput {
  const checkParams = textCheckOf(route.params);
  const checkQuery = textCheckOf(route.query);
  const { fromBrowser, access } = route;
  const timeoutMs = access === 'signature' || access === 'publishable' ? STRANGER_MS : undefined;
  const isOptional = route.body === undefined || route.bodyOptional === true;
  const schema = bodySchemaOf(route);
  const checkBody = schema && checkOf(schema);

  function checked(ctx: Context, params: Record<string, string>, bodyText: string): HandlerInput<Route> {
    const isLeftOut = bodyText === '' && isOptional;
    const body = schema && parseJson(isLeftOut ? '{}' : bodyText);
    const { querystring } = ctx;
    const search = querystring === '' ? undefined : new URLSearchParams(querystring);
    const query: Record<string, unknown> = search ? Object.fromEntries(search) : {};
    checkTexts({ params, query, body });
    checkParams(params);
    if (search) checkOnce(route, search);
    checkQuery(query);
    if (schema && checkBody) takeBody(ctx, { schema, check: checkBody, body });
    return { params, query, body, bodyText } as HandlerInput<Route>;
  }

  if (!readsBody(route)) return (ctx, params) => checked(ctx, params, '');
  return async (ctx, params) => {
    const bodyText = await readBodyText(ctx, {
      fromBrowser,
      isOptional,
      ...(timeoutMs ? { timeoutMs } : {}),
    });
    return checked(ctx, params, bodyText);
  };
}

/** For a body of whom anybody may send one. It comes at once, or somebody holds a place with it. */
const STRANGER_MS = 5_000;

const NO_FIELDS = Type.Object({});

/** What is checked here: a signed body is for the handler to read, once the signature holds. */
function bodySchemaOf(route: Route): TSchema | undefined {
  if (route.access === 'signature' || !readsBody(route)) return undefined;
  return route.body ?? NO_FIELDS;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Rejected('invalid_json', 'The body is not valid JSON.');
  }
}

/** Neither Postgres nor ClickHouse can keep such a text, and NUL marks our own exact numbers. */
function checkTexts(texts: unknown): void {
  if (faultyText(texts) === undefined) return;
  throw new Rejected('invalid_request', 'A text holds U+0000 or half of a surrogate pair.');
}

/** Parameters are no lists: of two values nobody can tell which one is meant. */
function checkOnce({ query }: Route, search: URLSearchParams): void {
  const param = Object.keys(query.properties).find((name) => search.getAll(name).length > 1);
  if (param === undefined) return;
  throw new Rejected('invalid_request', `\`${param}\` stands in the query more than once: send one.`, {
    param,
  });
}

function takeBody(
  ctx: Context,
  { schema, check, body }: { schema: TSchema; check: Check; body: unknown },
): void {
  check(body);
  const unknown = unknownFields(schema, body);
  const isStrict = prefersStrict(ctx);
  if (isStrict) ctx.set('Preference-Applied', 'handling=strict');
  if (unknown.length === 0) return;
  if (isStrict) {
    const param = unknown[0] ?? '';
    throw new Rejected('invalid_request', `The field \`${param}\` is not known.`, { param });
  }
  ctx.set('X-Ignored-Fields', ignoredFieldsHeader(unknown));
}

/** `Prefer: handling=strict`, RFC 7240: a list of preferences, values may be quoted. */
function prefersStrict(ctx: Context): boolean {
  return ctx
    .get('prefer')
    .split(',')
    .some((preference) => /^\s*handling\s*=\s*"?strict"?\s*(;|$)/i.test(preference));
}
