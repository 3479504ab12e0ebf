import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import { OUTCOME } from '../../infra/ports/idempotency-store.ts';
import { ERROR_STATUS, errorBody, type Rejection } from '../../schemas/error-codes.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import { createdAtMs, occurredAtMs } from '../../schemas/stored/record.ts';
import { EVENT_ID_CHARS } from '../../schemas/stored/void-ids.ts';
import type { Decided, Item } from './decided.ts';
import { respondedProperties } from './js/properties.ts';
import { quote } from './js/quote.ts';

/** A request-level error. */
export function rejectedResponse(rejection: Rejection, requestId: string): Response {
  return response(ERROR_STATUS[rejection.code], errorBody(rejection, requestId));
}

/** 201 with the event, the first one for a replay. */
export function singleResponse(decided: Decided, request: UsageRequest): Response {
  const item = decided.items[0] as Item; // a single request that was read has exactly one item
  const { ignored } = decided;
  if (item.rejection) return { ...rejectedResponse(item.rejection, request.requestId), ignored };
  const replayed = item.outcome === OUTCOME.duplicate;
  const event = eventJson(item, decided.times, request.numbersAsText === true);
  return { ...response(201, event), replayed, ignored };
}

/** 200 with a result per item, in request order. */
export function batchResponse(decided: Decided, request: UsageRequest): Response {
  const { items, times, ignored } = decided;
  const { includeEvents, numbersAsText = false } = request;
  let created = 0;
  let duplicate = 0;
  let results = '';
  let rejected: Rejection | undefined;
  let rejectedJson = '';
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Item; // index < length
    if (item.outcome === OUTCOME.created) created++;
    else if (item.outcome === OUTCOME.duplicate) duplicate++;
    const event = includeEvents && !item.rejection ? `,"event":${eventJson(item, times, numbersAsText)}` : '';
    const named = `"index":${index},"idempotencyKey":${quote(item.idempotencyKey)}`;
    // Mostly all for the same reason.
    if (item.rejection && !isSame(item.rejection, rejected)) {
      rejected = item.rejection;
      rejectedJson = rejectedResult(rejected);
    }
    const result = item.rejection ? rejectedJson : acceptedJson(item);
    results += `${index === 0 ? '' : ','}{${named},${result}${event}}`;
  }
  const errors = items.length - created - duplicate;
  const counts = `"created":${created},"duplicate":${duplicate},"errors":${errors}`;
  const body = `{"summary":{"total":${items.length},${counts}},"results":[${results}]}`;
  return { ...response(200, body), ignored, itemErrors: errors };
}

function isSame(one: Rejection, other: Rejection | undefined): boolean {
  return (
    one === other || (one.message === other?.message && one.code === other.code && one.param === other.param)
  );
}

function acceptedJson(item: Item): string {
  const status = item.outcome === OUTCOME.created ? 'created' : 'duplicate';
  return `"status":"${status}","eventId":"${eventId(item)}"`;
}

/** The result of an item that is rejected. */
export function rejectedResult({ code, message, param }: Rejection): string {
  return `"status":"error","error":${JSON.stringify({ code, message, param })}`;
}

/** The stored event. A replay carries the same customer, meter, value and properties as the first. */
function eventJson(item: Item, times: Float64Array, numbersAsText: boolean): string {
  const { checked, customer, customerMeter } = item;
  if (!checked || !customer || !customerMeter) return '{}'; // an accepted event has them all
  const properties = checked.properties.keys.length > 0 ? respondedProperties(checked.properties) : undefined;
  const value = numbersAsText ? `"${checked.value}"` : checked.value;
  const occurredAt = timestampText(occurredAtMs(times, item.at));
  const createdAt = timestampText(createdAtMs(times, item.at));
  return (
    `{"id":"${eventId(item)}","customerId":"${customer.id}","meterId":${quote(customerMeter.meter.key)},` +
    `"eventName":"usage.recorded","value":${value},"status":"recorded",` +
    `"occurredAt":"${occurredAt}","createdAt":"${createdAt}"` +
    `${properties ? `,"properties":${properties}` : ''}}`
  );
}

function eventId(item: Item): string {
  return item.identity.slice(0, EVENT_ID_CHARS);
}

function response(status: number, body: string): Response {
  return { status, replayed: false, body: Buffer.from(body) };
}
