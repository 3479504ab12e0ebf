import { EVENT_TYPES } from '../../schemas/events.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import {
  REPLAYED_MAX,
  type WebhookAttempt,
  type WebhookDelivery,
} from '../../schemas/resources/webhook-deliveries.ts';
import { recordChange } from '../changes/record-change.ts';
import { cursorOf, isText, readCursor } from '../http/cursor.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import {
  findDelivery,
  findReplayable,
  hurryDeliveries,
  hurryDelivery,
  insertDueDeliveries,
  listAllDeliveries,
  listAttempts,
  listDeliveries,
  markReplayed,
  type NewDelivery,
  REPLAY_MARGIN_MS,
  type WebhookAttemptRow,
  type WebhookDeliveryRow,
} from '../store/webhook-deliveries.ts';
import { findEndpoint, type WebhookEndpointRow } from '../store/webhook-endpoints.ts';
import { findEvent, insertTestEvent } from '../store/webhook-events.ts';
import { openSpan } from '../usage/window.ts';
import { testEvent } from '../webhooks/test-event.ts';
import { endpointNotFound, lockedEndpoint } from './webhooks.ts';

type DeliveryOperation =
  | Extract<keyof Handlers, `webhookDeliveries.${string}`>
  | `webhookEndpoints.${'replay' | 'test'}`;

export const webhookDeliveryHandlers: Pick<Handlers, DeliveryOperation> = {
  'webhookDeliveries.list': async ({ db, environment }, { params: { endpointId }, query }) => {
    if (!(await findEndpoint(db, environment, endpointId))) endpointNotFound(endpointId);
    const { page, pageSize, status } = query;
    const { rows, total } = await listDeliveries(db, environment, { endpointId, status, page, pageSize });
    return pageOf(rows.map(shownDelivery), total, query);
  },

  'webhookDeliveries.listAll': async ({ db, environment }, { query }) => {
    const { endpointId, status, type: eventType, limit, cursor } = query;
    const { fromMs, toMs } = openSpan(query);
    const after = cursor === undefined ? undefined : placeOf(cursor);
    if (endpointId !== undefined && !(await findEndpoint(db, environment, endpointId))) {
      endpointNotFound(endpointId);
    }
    const span = { from: new Date(fromMs), to: new Date(toMs) };
    const filter = { endpointId, status, eventType, after, ...span, limit: limit + 1 };
    const rows = await listAllDeliveries(db, environment, filter);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      data: rows.slice(0, limit).map(shownDelivery),
      ...(last ? { nextCursor: cursorOf([last.createdAt.getTime(), last.id]) } : {}),
    };
  },

  'webhookDeliveries.retrieve': async ({ db, environment }, { params }) => {
    const row = (await findDelivery(db, environment, params.deliveryId)) ?? notFound(params.deliveryId);
    const requestBody = await findEvent(db, environment, row.eventId);
    if (requestBody === undefined) throw new Defect('a delivery has no event');
    const attempts = await listAttempts(db, environment, row);
    return { ...shownDelivery(row), requestBody, attempts: attempts.map(shownAttempt) };
  },

  'webhookDeliveries.replay': async (context, { params }) => {
    const { db, environment, nowMs } = context;
    const old = (await findDelivery(db, environment, params.deliveryId)) ?? notFound(params.deliveryId);
    const { endpointId, eventId } = old;
    await enabledEndpoint(context, endpointId);
    const waiting = await hurryDelivery(db, environment, { endpointId, eventId, now: new Date(nowMs) });
    const id = waiting ?? (await deliverAgain(context, old));
    const shown = await readDelivery(context, id);
    await recordChange(context, { objectId: endpointId, after: { replayed: old.id, as: shown.id } });
    return shown;
  },

  'webhookEndpoints.replay': async (context, { params: { endpointId }, body }) => {
    const { fromMs, toMs } = openSpan(body);
    const { onlyFailed = false } = body;
    await enabledEndpoint(context, endpointId);
    const hurried = await hurry(context, { endpointId, fromMs, toMs });
    const span = { endpointId, fromMs, toMs: hurried.nextFromMs ?? toMs };
    const replayed = await replaySpan(context, { ...span, onlyFailed });
    const done = { replayed: replayed.count, hurried: hurried.count };
    await recordChange(context, { objectId: endpointId, after: { ...body, ...done } });
    const nextFromMs = replayed.nextFromMs ?? hurried.nextFromMs;
    return { ...done, ...(nextFromMs === undefined ? {} : { nextFrom: timestampText(nextFromMs) }) };
  },

  'webhookEndpoints.test': async (context, { params: { endpointId }, body }) => {
    const { db, environment, nowMs } = context;
    const endpoint = await enabledEndpoint(context, endpointId);
    const type = body.type ?? EVENT_TYPES.find((one) => endpoint.events.includes(one)) ?? 'customer.created';
    const event = testEvent(type, { environment, nowMs });
    const createdAt = new Date(nowMs);
    await insertTestEvent(db, environment, { ...event, type, objectId: endpointId, createdAt });
    const [row] = await deliver(context, endpointId, { eventIds: [event.id], isHurried: true });
    const after = { tested: event.id, type };
    await recordChange(context, { objectId: endpointId, after });
    return readDelivery(context, row?.id);
  },
};

function placeOf(cursor: string): { createdAt: Date; id: string } {
  const [createdMs, id] = readCursor(cursor, isPosition);
  return { createdAt: new Date(createdMs), id };
}

/** A time that Postgres has as well. */
function isPosition(values: unknown[]): values is [number, string] {
  const [createdMs, id] = values;
  return Number.isInteger(createdMs) && Math.abs(Number(createdMs)) < Date.UTC(2200, 0, 1) && isText(id);
}

interface EndpointSpan extends Span {
  endpointId: string;
}

/** How many were sent again, and where to continue if there are more. */
interface Progress {
  count: number;
  nextFromMs?: number | undefined;
}

/** The deliveries that wait for their next attempt. */
async function hurry(context: RequestContext, { endpointId, fromMs, toMs }: EndpointSpan): Promise<Progress> {
  const { db, environment, nowMs } = context;
  const [from, to, now] = [new Date(fromMs), new Date(toMs), new Date(nowMs)];
  const times = await hurryDeliveries(db, environment, { endpointId, from, to, limit: REPLAYED_MAX, now });
  const isCutOff = times.length === REPLAYED_MAX;
  // Other events may have the same time as the last one: they are still to come, and this one is due already.
  return { count: times.length, nextFromMs: isCutOff ? times.at(-1)?.getTime() : undefined };
}

/** What has ended. */
async function replaySpan(
  context: RequestContext,
  { endpointId, fromMs, toMs, onlyFailed }: EndpointSpan & { onlyFailed: boolean },
): Promise<Progress> {
  const { db, environment } = context;
  const span = { endpointId, from: new Date(fromMs), to: new Date(toMs) };
  const found = await findReplayable(db, environment, { ...span, onlyFailed, limit: REPLAYED_MAX + 1 });
  const eventIds = found.slice(0, REPLAYED_MAX).map(({ id }) => id);
  if (eventIds.length > 0) {
    const rows = await deliver(context, endpointId, { eventIds });
    await markReplayed(db, environment, { endpointId, since: new Date(fromMs - REPLAY_MARGIN_MS), rows });
  }
  return { count: eventIds.length, nextFromMs: found[REPLAYED_MAX]?.createdAt.getTime() };
}

/** Creates a delivery of each event, due at once. */
async function deliver(
  { db, environment, nowMs }: RequestContext,
  endpointId: string,
  { eventIds, isHurried = false }: { eventIds: string[]; isHurried?: boolean },
): Promise<NewDelivery[]> {
  const rows = eventIds.map((eventId) => ({ id: newId('dlv'), eventId }));
  await insertDueDeliveries(db, environment, { endpointId, createdAt: new Date(nowMs), isHurried, rows });
  return rows;
}

/** One that a user names: an open circuit does not delay its first attempt. Returns the id of the new one. */
async function deliverAgain(
  context: RequestContext,
  { endpointId, eventId, createdAt: since }: WebhookDeliveryRow,
): Promise<string | undefined> {
  const rows = await deliver(context, endpointId, { eventIds: [eventId], isHurried: true });
  await markReplayed(context.db, context.environment, { endpointId, since, rows });
  return rows[0]?.id;
}

/** Locked: a concurrent request to send the same again comes after, and finds it on its way. */
async function enabledEndpoint(context: RequestContext, id: string): Promise<WebhookEndpointRow> {
  const row = await lockedEndpoint(context, id);
  if (row.status === 'enabled') return row;
  throw new Rejected('illegal_transition', 'The endpoint is disabled. Enable it first.', {
    details: { from: row.status, legal: ['enabled'] },
  });
}

async function readDelivery({ db, environment }: RequestContext, id = ''): Promise<WebhookDelivery> {
  const row = await findDelivery(db, environment, id);
  if (!row) throw new Defect('a delivery is missing in the transaction that made it');
  return shownDelivery(row);
}

export function shownDelivery(row: WebhookDeliveryRow): WebhookDelivery {
  const { id, endpointId, eventId, eventType, status, attemptsMade, createdAt } = row;
  return {
    id,
    endpointId,
    eventId,
    eventType,
    status,
    attemptsMade,
    ...(row.lastStatus === null ? {} : { lastStatus: row.lastStatus }),
    ...(row.lastError === null ? {} : { lastError: row.lastError }),
    ...shownTime('lastAttemptAt', row.lastAttemptAt),
    ...shownTime('nextAttemptAt', row.nextAttemptAt),
    ...(row.replayedAs === null ? {} : { replayedAs: row.replayedAs }),
    createdAt: timestampText(createdAt.getTime()),
  };
}

function shownTime<Name extends string>(name: Name, time: Date | null): { [N in Name]?: string } {
  return (time === null ? {} : { [name]: timestampText(time.getTime()) }) as { [N in Name]?: string };
}

export function shownAttempt(row: WebhookAttemptRow): WebhookAttempt {
  const { number, startedAt, durationMs, requestHead } = row;
  return {
    number,
    startedAt: timestampText(startedAt.getTime()),
    durationMs,
    ...(row.status === null ? {} : { status: row.status }),
    ...(row.errorCode === null ? {} : { errorCode: row.errorCode }),
    requestHead,
    ...(row.responseHead === null ? {} : { responseHead: row.responseHead }),
    ...(row.responseBody === null ? {} : { responseBody: row.responseBody }),
  };
}

function notFound(id: string): never {
  throw new Rejected('not_found', `There is no delivery ${id}.`, { param: 'deliveryId' });
}
