import type { Context } from 'koa';
import { type TSchema, Type } from 'typebox';
import type { Rejection } from '../../schemas/error-codes.ts';
import { Rejected } from '../../schemas/failures.ts';
import { ignoredFieldsHeader } from '../../schemas/http/ignored-fields.ts';
import { readPreferences } from '../../schemas/http/preferences.ts';
import { readQuery, repeatedParameter, unknownParameter } from '../../schemas/http/query-parameters.ts';
import { exactJson, faultyText, parseExact } from '../../schemas/primitives/exact-json.ts';
import { jsonFault } from '../../schemas/primitives/json-fault.ts';
import { didYouMean, notKnown } from '../../schemas/primitives/similar-name.ts';
import { type Route, readsBody } from '../../schemas/route.ts';
import { dropNulls } from './absent-members.ts';
import { type Check, checkOf, textCheckOf } from './json-schema.ts';
import { readBodyText } from './read-body.ts';
import type { HandlerInput } from './request-context.ts';
import { siblingNames, unknownFields } from './unknown-fields.ts';

/** Reads and checks the input of a request. Throws Rejected: media type, size, JSON, then fields. */
export type ReadInput = (
  ctx: Context,
  params: Record<string, string>,
) => HandlerInput<Route> | Promise<HandlerInput<Route>>;

/** Once per operation, when the app is created; its checks are compiled with the first request. */
export function createReadInput(route: Route): ReadInput {
  const checkParams = textCheckOf(route.params);
  const checkQuery = textCheckOf(route.query);
  const { fromBrowser, access, bodyBytesMax } = route;
  const maps = mapsOf(route);
  const timeoutMs = access === 'signature' || access === 'publishable' ? STRANGER_MS : undefined;
  const isOptional = route.body === undefined || route.bodyOptional === true;
  const schema = bodySchemaOf(route);
  const checkBody = schema && checkOf(schema);

  function checked(ctx: Context, params: Record<string, string>, sent: string): HandlerInput<Route> {
    const { body, bodyText } = schema
      ? readJson(schema, sent, isOptional)
      : { body: undefined, bodyText: sent };
    const search = searchOf(ctx);
    const query = search ? readQuery(search, maps) : {};
    checkTexts({ params, query, body });
    checkParams(params);
    if (search) checkNames(route, search);
    restorePlus(route, query);
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
      ...(bodyBytesMax ? { bytesMax: bodyBytesMax } : {}),
    });
    return checked(ctx, params, bodyText);
  };
}

/** The limit for a body without authentication. It must arrive quickly, or any client could occupy a slot. */
const STRANGER_MS = 5_000;

const NO_FIELDS = Type.Object({});

/** The handler reads a signed body itself, after it has verified the signature. */
function bodySchemaOf(route: Route): TSchema | undefined {
  if (route.access === 'signature' || !readsBody(route)) return undefined;
  return route.body ?? NO_FIELDS;
}

const BYTE_ORDER_MARK = '\ufeff';

/** The body, and its text for numbers that a double would round, without members whose null means absent. */
function readJson(schema: TSchema, sent: string, isOptional: boolean): { body: unknown; bodyText: string } {
  const text = sent.startsWith(BYTE_ORDER_MARK) ? sent.slice(BYTE_ORDER_MARK.length) : sent;
  const body = parseJson(text === '' && isOptional ? '{}' : text, sent);
  if (!dropNulls(schema, body)) return { body, bodyText: text };
  const exact = parseExact(text);
  dropNulls(schema, exact);
  return { body, bodyText: exactJson(exact) };
}

function parseJson(text: string, sent: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const [bytes, all] = [Buffer.from(text), Buffer.byteLength(sent)];
    throw new Rejected('invalid_json', `The body ${jsonFault(bytes, all - bytes.length)}.`);
  }
}

export function searchOf({ querystring }: Context): URLSearchParams | undefined {
  return querystring === '' ? undefined : new URLSearchParams(querystring);
}

/** Throws Rejected for a parameter that the operation does not know. */
export function rejectUnknown(search: URLSearchParams, { query }: Route): void {
  throwIf(unknownParameter(search, Object.keys(query.properties), mapsOf({ query })));
}

/**
 * Web pages and their campaigns add arbitrary parameters to an address; a request for a removed operation
 * gets only that error.
 */
function checkNames(route: Route, search: URLSearchParams): void {
  if (!route.fromBrowser && !route.deprecated) rejectUnknown(search, route);
  checkOnce(route, search);
}

/** The parameters that hold values by name. */
function mapsOf({ query: { properties } }: Pick<Route, 'query'>): string[] {
  const isMap = (schema: TSchema & { type?: string }) => schema.type === 'object';
  return Object.entries(properties).flatMap(([name, schema]) => (isMap(schema) ? [name] : []));
}

/** In a query a plus is a space: `…T00:00:00+01:00` comes as `…T00:00:00 01:00`. */
function restorePlus({ query: { properties } }: Route, query: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(query)) {
    const schema: (TSchema & { format?: string }) | undefined = properties[name];
    if (schema?.format === 'date-time') query[name] = String(value).replace(SPACED_OFFSET, '$1+$2');
  }
}

const SPACED_OFFSET = /(:\d\d(?:\.\d+)?) (\d\d:?\d\d)$/;

/** Neither Postgres nor ClickHouse can store such a string, and NUL marks our own exact numbers. */
function checkTexts(texts: unknown): void {
  if (faultyText(texts) === undefined) return;
  throw new Rejected('invalid_request', 'Text must not contain U+0000 or an unpaired surrogate.');
}

function checkOnce({ query }: Route, search: URLSearchParams): void {
  throwIf(repeatedParameter(search, Object.keys(query.properties), mapsOf({ query })));
}

function throwIf(rejection: Rejection | undefined): void {
  if (rejection) throw new Rejected(rejection.code, rejection.message, { param: rejection.param ?? '' });
}

function takeBody(
  ctx: Context,
  { schema, check, body }: { schema: TSchema; check: Check; body: unknown },
): void {
  const unknown = unknownFields(schema, body);
  // Before the check: a rejection names them, too.
  if (unknown.length > 0) ctx.set('X-Ignored-Fields', ignoredFieldsHeader(unknown));
  check(body);
  if (unknown.length === 0) return;
  if (readPreferences(ctx.get('prefer')).isStrict) {
    const param = unknown[0] ?? '';
    const hint = didYouMean(param.split('.').at(-1) ?? '', siblingNames(schema, param));
    throw new Rejected('invalid_request', notKnown(param) + hint, { param });
  }
}
