import type { RequestHeaders } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { invalid } from '../engine/js/json-scalars.ts';
import { parseJson } from '../engine/js/parse.ts';
import { type CloudEvent, readCloudEvent, withHeaderAttributes } from './cloud-event.ts';
import type { EventsForm } from './events-head.ts';

/** The events of a request, in order; one that is not valid is its rejection. */
export interface SentEvents {
  events: Array<CloudEvent | Rejection>;
  /** Each is a valid event. */
  isValid: boolean;
  /** Sent as an array. */
  isBatch: boolean;
}

/** In this turn: the body is not read later. */
export function readEvents(
  form: EventsForm,
  headers: RequestHeaders,
  body: Buffer,
): SentEvents | { rejection: Rejection } {
  const hasData = form !== 'binary' || body.length > 0;
  const parsed = hasData ? parseJson(body) : { value: undefined };
  if ('rejection' in parsed) return parsed;
  const { value } = parsed;
  if (form === 'binary') {
    return sent([withHeaderAttributes(headers, value)], false);
  }
  const isBatch = Array.isArray(value);
  if (form === 'batch' && !isBatch) return { rejection: invalid('A batch of CloudEvents is a JSON array.') };
  if (form === 'structured' && isBatch) return { rejection: ARRAY_AS_ONE };
  if (!isBatch) return sent([value], false);
  if (value.length > USAGE_LIMITS.batchItemsMax) return { rejection: TOO_MANY };
  return sent(value, true);
}

function sent(raw: unknown[], isBatch: boolean): SentEvents {
  const events = raw.map(readCloudEvent);
  return { events, isBatch, isValid: events.every((event) => 'type' in event) };
}

const ARRAY_AS_ONE = invalid('Send an array of CloudEvents as application/cloudevents-batch+json.');
const TOO_MANY: Rejection = {
  code: 'batch_too_large',
  message: `A batch holds at most ${USAGE_LIMITS.batchItemsMax} events; nothing was stored.`,
};
