import type { UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { type Preferences, readPreferences } from '../../schemas/http/preferences.ts';
import { repeatedParameter, unknownParameter } from '../../schemas/http/query-parameters.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { tooLarge } from './read-body.ts';

/** `events`: CloudEvents, to the path of OpenMeter. `logs`: log records of OTLP. */
export type UsageOperation = 'single' | 'batch' | 'events' | 'logs';

const SINGLE_PATH = '/api/v1/usage/events';
const BATCH_PATH = `${SINGLE_PATH}/batch`;
const EVENTS_PATH = '/api/v1/events';
const LOGS_PATH = '/api/v1/otlp/v1/logs';

/** Which usage operation this is; undefined for every other request, those of the control plane. */
export function usageOperation({ method, path }: Exchange): UsageOperation | undefined {
  if (method !== 'POST') return undefined;
  if (path === BATCH_PATH) return 'batch';
  if (path === SINGLE_PATH) return 'single';
  // A trailing slash is taken, as it is everywhere.
  if (path === `${BATCH_PATH}/`) return 'batch';
  if (path === `${SINGLE_PATH}/`) return 'single';
  if (path === EVENTS_PATH || path === `${EVENTS_PATH}/`) return 'events';
  return path === LOGS_PATH ? 'logs' : undefined;
}

/** What the head of a usage request states about its body. */
export interface UsageHead
  extends Pick<UsageRequest, 'kind' | 'includeEvents' | 'idempotencyKey'>,
    Preferences {
  gzip: boolean;
  /** The session that the events are of: they count once it is closed. */
  backfillId: string | undefined;
}

export function readUsageHead(exchange: Exchange, operation: keyof typeof PARAMETERS): UsageHead | Rejection {
  const { headers, query } = exchange;
  const mediaType = mediaTypeOf(headers.get('content-type'));
  const lines = operation === 'batch' && mediaType === 'application/x-ndjson';
  if (!lines && mediaType !== JSON_TYPE) {
    return unsupported(`Send application/json${operation === 'batch' ? ' or application/x-ndjson' : ''}.`);
  }
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip')
    return unsupported('The only Content-Encoding is gzip.');
  if (Number(headers.get('content-length') ?? 0) > USAGE_LIMITS.bodyBytesMax) {
    return tooLarge(USAGE_LIMITS.bodyBytesMax);
  }
  const parameters = query === '' ? NO_PARAMETERS : readParameters(query, operation);
  if ('code' in parameters) return parameters;
  // The items of a batch have keys of their own.
  const idempotencyKey = operation === 'single' ? headers.get('idempotency-key') : undefined;
  if (idempotencyKey !== undefined && !VISIBLE_ASCII.test(idempotencyKey)) return KEY_NOT_ASCII;
  const { isStrict, numbersAsText } = readPreferences(headers.get('prefer'));
  return {
    kind: lines ? 'ndjson' : operation,
    includeEvents: parameters.includeEvents,
    idempotencyKey,
    gzip: encoding === 'gzip',
    isStrict,
    numbersAsText,
    backfillId: parameters.backfillId,
  };
}

const PARAMETERS = { single: ['backfillId'], batch: ['include', 'backfillId'] };

type Parameters = Pick<UsageHead, 'includeEvents' | 'backfillId'>;
const NO_PARAMETERS: Parameters = { includeEvents: false, backfillId: undefined };

function readParameters(query: string, operation: keyof typeof PARAMETERS): Parameters | Rejection {
  const search = new URLSearchParams(query);
  const known = PARAMETERS[operation];
  const rejection = unknownParameter(search, known) ?? repeatedParameter(search, known);
  if (rejection) return rejection;
  const include = search.get('include');
  const backfillId = search.get('backfillId') ?? undefined;
  if (include === null || include === 'events') return { includeEvents: include !== null, backfillId };
  return { code: 'invalid_request', message: '`include` takes one value: events.', param: 'include' };
}

const JSON_TYPE = 'application/json';

/** Without its parameters. Nearly all are only JSON, and are not taken apart. */
function mediaTypeOf(contentType = JSON_TYPE): string | undefined {
  return contentType === JSON_TYPE ? contentType : contentType.split(';', 1)[0]?.trim().toLowerCase();
}

/**
 * Clients and proxies read other bytes in a header as Latin-1, as UTF-8, or replace them: two keys would
 * become one, the second event a replay of the first. A line feed: the header came twice (request-head.ts).
 */
const VISIBLE_ASCII = /^[\x20-\x7e]*$/;
const KEY_NOT_ASCII: Rejection = {
  code: 'idempotency_key_invalid',
  message:
    'An Idempotency-Key header comes once, in visible ASCII. Send other keys in the body (idempotencyKey).',
  param: 'Idempotency-Key',
};

function unsupported(message: string): Rejection {
  return { code: 'unsupported_media_type', message };
}
