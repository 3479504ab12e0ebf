import type { Exchange, RequestHeaders } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { accepts } from '../../schemas/http/accepts.ts';
import { readPreferences } from '../../schemas/http/preferences.ts';
import { unknownParameter } from '../../schemas/http/query-parameters.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { tooLarge } from '../http/read-body.ts';

/**
 * How a request carries its events. `binary`: the attributes are headers, the body is the data. `logs`: as
 * log records of OTLP.
 */
export type EventsForm = 'binary' | 'structured' | 'batch' | 'either' | 'logs';

/** What the head of a request with events of other formats states about its body. */
export interface EventsHead {
  kind: 'events';
  form: EventsForm;
  gzip: boolean;
  /** `Accept: application/json`: a result for each event, in place of 204. */
  wantsResults: boolean;
  accept: string | undefined;
  /** `Prefer: handling=strict`: an event that no meter counts is an error. */
  isStrict: boolean;
}

export function readEventsHead(
  { headers, query }: Exchange,
  operation: 'events' | 'logs',
): EventsHead | Rejection {
  const form = operation === 'logs' ? logsForm(headers) : eventsForm(headers);
  if (form === undefined) return operation === 'logs' ? NOT_JSON : UNSUPPORTED;
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') return NOT_GZIP;
  if (Number(headers.get('content-length') ?? 0) > USAGE_LIMITS.bodyBytesMax) {
    return tooLarge(USAGE_LIMITS.bodyBytesMax);
  }
  const unknown = query === '' ? undefined : unknownParameter(new URLSearchParams(query), []);
  if (unknown) return unknown;
  const { isStrict } = readPreferences(headers.get('prefer'));
  const accept = headers.get('accept');
  const wantsResults = operation === 'events' && accepts(accept, 'application/json');
  return { kind: 'events', form, gzip: encoding === 'gzip', wantsResults, accept, isStrict };
}

const FORMS: Record<string, EventsForm> = {
  'application/cloudevents+json': 'structured',
  'application/cloudevents-batch+json': 'batch',
};
const JSON_TYPE = /^application\/(json|[\w.-]+\+json)$/;

/** Plain JSON is one event or an array of them, as OpenMeter takes it, unless the attributes are headers. */
function eventsForm(headers: RequestHeaders): EventsForm | undefined {
  const hasAttributes = headers.has('ce-specversion') || headers.has('ce-id');
  const mediaType = mediaTypeOf(headers);
  const form = FORMS[mediaType];
  if (form) return form;
  if (!JSON_TYPE.test(mediaType)) return undefined;
  if (hasAttributes) return 'binary';
  return mediaType === 'application/json' ? 'either' : undefined;
}

function logsForm(headers: RequestHeaders): EventsForm | undefined {
  return mediaTypeOf(headers) === 'application/json' ? 'logs' : undefined;
}

function mediaTypeOf(headers: RequestHeaders): string {
  return headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? 'application/json';
}

const NOT_JSON: Rejection = {
  code: 'unsupported_media_type',
  message: 'Send OTLP as application/json: set the protocol of the exporter to http/json.',
};
const UNSUPPORTED: Rejection = {
  code: 'unsupported_media_type',
  message:
    'Send application/cloudevents+json, application/cloudevents-batch+json or application/json; in binary ' +
    'mode the data must be JSON.',
};
const NOT_GZIP: Rejection = {
  code: 'unsupported_media_type',
  message: 'The only Content-Encoding is gzip.',
};
