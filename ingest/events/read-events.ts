import type { RequestHeaders } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { invalid } from '../engine/js/json-scalars.ts';
import { parseWhole } from '../engine/js/parse.ts';
import { readCloudEvent, withHeaderAttributes } from './cloud-event.ts';
import type { EventsForm } from './events-head.ts';
import { readLogs } from './read-logs.ts';
import type { SentEvents } from './sent-events.ts';

/** In this turn: the body is not read later. */
export function readEvents(
  form: EventsForm,
  headers: RequestHeaders,
  body: Buffer,
): SentEvents | { rejection: Rejection } {
  if (form === 'logs') return readLogs(body);
  const hasData = form !== 'binary' || body.length > 0;
  const parsed = hasData ? parseWhole(body) : { value: undefined };
  if ('rejection' in parsed) return parsed;
  const { value } = parsed;
  if (form === 'binary') {
    return sent([withHeaderAttributes(headers, value)], false);
  }
  const isBatch = Array.isArray(value);
  if (form === 'batch' && !isBatch) return { rejection: invalid('A batch of CloudEvents is a JSON array.') };
  if (form === 'structured' && isBatch) return { rejection: ARRAY_AS_ONE };
  if (!isBatch) return sent([value], false);
  if (value.length > USAGE_LIMITS.foreignEventsMax) return { rejection: TOO_MANY };
  return sent(value, true);
}

function sent(raw: unknown[], isBatch: boolean): SentEvents {
  const events = raw.map(readCloudEvent);
  const types = new Set<string>();
  let isValid = true;
  for (const event of events) {
    if ('type' in event) types.add(event.type);
    else isValid = false;
  }
  return { types, isBatch, eventsFor: () => ({ events, isValid, others: 0 }) };
}

const ARRAY_AS_ONE = invalid('Send an array of CloudEvents as application/cloudevents-batch+json.');
const TOO_MANY: Rejection = {
  code: 'batch_too_large',
  message: `A request holds at most ${USAGE_LIMITS.foreignEventsMax} events; nothing was stored.`,
};
