import { ERROR_STATUS, type Rejection } from '../../schemas/error-codes.ts';
import { errorResponse } from '../../schemas/http/error-response.ts';
import { type EventOutcome, errorOf, statusOf } from './event-outcome.ts';
import type { EventsHead } from './events-head.ts';
import type { UsageOutcome } from './usage-outcome.ts';

export interface EventsResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Events that no meter counts. */
  unmetered: number;
}

interface Asked extends EventsHead {
  requestId: string;
  isBatch: boolean;
}

interface Counted {
  /** Each event is counted, or is counted by no meter. */
  isAllGood: boolean;
  unmetered: number;
  outcomes(): EventOutcome[];
}

/** In the form that the client asked for. */
export function responseTo(asked: Asked, { isAllGood, unmetered, outcomes }: Counted): EventsResponse {
  const isPlain = /* mutant: rejected-event-acknowledged */ isAllGood && !(asked.isStrict && unmetered > 0);
  if (asked.form === 'logs')
    return isPlain ? exported(unmetered, []) : logsResponse(outcomes(), unmetered, asked);
  if (asked.wantsResults) return resultsResponse(outcomes());
  return isPlain ? takenResponse(unmetered) : statusResponse(outcomes(), asked);
}

/** Each event is counted, or is counted by no meter. */
function takenResponse(unmetered: number): EventsResponse {
  return { status: 204, headers: countHeaders(unmetered), body: '', unmetered };
}

/** With a result for each event, in order. */
function resultsResponse(outcomes: readonly EventOutcome[]): EventsResponse {
  const counts = { created: 0, duplicate: 0, unmetered: 0, error: 0 };
  const results = outcomes.map((outcome, index) => {
    const status = statusOf(outcome);
    counts[status]++;
    const { id, source, error, usageEvents } = outcome;
    return { index, id, source, status, usageEvents, error };
  });
  const { error: errors, ...others } = counts;
  const body = JSON.stringify({ summary: { total: outcomes.length, ...others, errors }, results });
  const headers = { 'content-type': 'application/json', ...countHeaders(counts.unmetered) };
  const errorHeader = errors === 0 ? {} : { 'x-item-errors': String(errors) };
  return { status: 200, headers: { ...headers, ...errorHeader }, body, unmetered: counts.unmetered };
}

/**
 * 204 is the whole truth only where each event is counted or of no meter. A client that reads nothing but
 * the status must not take a part for the whole: one rejected event makes it an error, although the others
 * are stored. Sent again they are duplicates.
 */
function statusResponse(outcomes: readonly EventOutcome[], { isBatch, ...asked }: Asked): EventsResponse {
  const rejected = rejectedOf(outcomes);
  const unmetered = outcomes.filter((outcome) => statusOf(outcome) === 'unmetered').length;
  const [first] = rejected;
  if (!first) return takenResponse(unmetered);
  // The request as it is may be sent again, and will be taken.
  const passing = rejected.find(isPassing)?.error;
  const rejection = passing ?? (isBatch ? batchRejection(outcomes, rejected, first) : ownRejection(first));
  const status = ERROR_STATUS[rejection.code];
  const retry: Record<string, string> = status === 503 ? { 'retry-after': '1' } : {};
  const { mediaType, body } = errorResponse(rejection, asked);
  const counts = { 'x-item-errors': String(rejected.length), ...countHeaders(unmetered) };
  return { status, headers: { 'content-type': mediaType, ...retry, ...counts }, body, unmetered };
}

/**
 * Of OTLP: what is rejected must not be sent again, so all of it is where something may be counted later. It
 * names the first one alone.
 */
function logsResponse(outcomes: readonly EventOutcome[], unmetered: number, asked: Asked): EventsResponse {
  const rejected = rejectedOf(outcomes);
  const passing = rejected.find(isPassing);
  if (!passing) return exported(unmetered, rejected);
  const { mediaType, body } = errorResponse(passing.error, asked);
  const headers = { 'content-type': mediaType, 'retry-after': '1', ...countHeaders(unmetered) };
  return { status: 503, headers, body, unmetered };
}

function exported(unmetered: number, rejected: readonly RejectedEvent[]): EventsResponse {
  const headers = { 'content-type': 'application/json', ...countHeaders(unmetered) };
  const [first] = rejected;
  if (!first) return { status: 200, headers, body: '{}', unmetered };
  const errorMessage = `${first.error.code}: ${first.error.message}${inPart(rejected)}`;
  const partialSuccess = { rejectedLogRecords: String(rejected.length), errorMessage };
  return { status: 200, headers, body: JSON.stringify({ partialSuccess }), unmetered };
}

interface RejectedEvent {
  index: number;
  id: string | undefined;
  error: Rejection;
  /** Only where a meter counts it all the same. */
  usageEvents: UsageOutcome[] | undefined;
}

function rejectedOf(outcomes: readonly EventOutcome[]): RejectedEvent[] {
  return outcomes.flatMap((outcome, index) => {
    const error = errorOf(outcome);
    if (!error) return [];
    const isInPart = outcome.usageEvents.some(({ status }) => status !== 'error');
    const usageEvents = isInPart ? outcome.usageEvents : undefined;
    return [{ index, id: outcome.id, error, usageEvents }];
  });
}

function isPassing({ error }: RejectedEvent): boolean {
  return ERROR_STATUS[error.code] === 503;
}

const SHOWN_MAX = 100;

/** Of a request that was one event. */
function ownRejection({ error, usageEvents }: RejectedEvent): Rejection {
  if (!usageEvents) return error;
  const message = `${error.message} Counted in part: \`usageEvents\` says on which meters.`;
  return { ...error, message, details: { usageEvents } };
}

function batchRejection(
  outcomes: readonly EventOutcome[],
  rejected: readonly RejectedEvent[],
  first: RejectedEvent,
): Rejection {
  const shown = rejected.slice(0, SHOWN_MAX).map(({ index, id, error, usageEvents }) => {
    return { index, id, ...error, usageEvents };
  });
  const total = outcomes.length;
  const unmetered = outcomes.filter((outcome) => statusOf(outcome) === 'unmetered').length;
  const counted = total - rejected.length - unmetered;
  const message = [
    `${rejected.length} of ${total} events were rejected, the first at index ${first.index}: `,
    `${first.error.message}${inPart(rejected)}`,
    counted === 0 ? '' : ` Counted: ${counted}, which are duplicates when sent again.`,
    unmetered === 0 ? '' : ` Counted by no meter: ${unmetered}.`,
  ].join('');
  return { code: 'invalid_request', message, details: { rejected: shown } };
}

function inPart(rejected: readonly RejectedEvent[]): string {
  const { length } = rejected.filter(({ usageEvents }) => usageEvents);
  return length === 0 ? '' : ` Counted in part: ${length} of the rejected, on other meters.`;
}

function countHeaders(unmetered: number): Record<string, string> {
  return unmetered === 0 ? {} : { 'x-unmetered-events': String(unmetered) };
}
