import { randomBytes } from 'node:crypto';
import { type SecretOwner, sealWebhookSecret } from '../../domain/webhook-secrets.ts';
import { type PrivateTargets, targetsOf } from '../../infra/platform/private-targets.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { parseExact } from '../../schemas/primitives/exact-json.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import {
  ENDPOINTS_MAX,
  type EventEnvelope,
  type FailingWebhookEndpoint,
  type WebhookEndpoint,
} from '../../schemas/resources/webhooks.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { recordChange } from '../changes/record-change.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import {
  countEndpointsLocked,
  deleteEndpoint,
  type EndpointFields,
  type FailingEndpointRow,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  listFailingEndpoints,
  lockEndpoint,
  replaceSecret,
  updateEndpoint,
  type WebhookEndpointRow,
} from '../store/webhook-endpoints.ts';
import { findEvent, listEvents } from '../store/webhook-events.ts';
import { openSpan } from '../usage/window.ts';
import { checkWebhookUrl } from '../webhooks/webhook-url.ts';

export interface WebhookDeps {
  sealingKey: Buffer;
  /** Private addresses that may be registered in addition to public ones. */
  privateTargets: PrivateTargets;
}

type WebhookOperation =
  | 'listWebhookEndpoints'
  | 'createWebhookEndpoint'
  | `webhookEndpoints.${'listFailing' | 'retrieve' | 'update' | 'delete' | 'rotateSecret'}`
  | `webhookEvents.${'list' | 'retrieve'}`;

export function createWebhookHandlers(deps: WebhookDeps): Pick<Handlers, WebhookOperation> {
  return { ...createEndpointHandlers(deps), ...eventHandlers };
}

function createEndpointHandlers({
  sealingKey,
  privateTargets,
}: WebhookDeps): Omit<Pick<Handlers, WebhookOperation>, keyof typeof eventHandlers> {
  return {
    listWebhookEndpoints: async ({ db, environment }) => ({
      data: (await listEndpoints(db, environment)).map(shownEndpoint),
    }),

    'webhookEndpoints.listFailing': async ({ db, environment }) => ({
      data: (await listFailingEndpoints(db, environment)).map(shownFailing),
    }),

    createWebhookEndpoint: async (context, { body }) => {
      const { db, environment, nowMs } = context;
      checkWebhookUrl(body.url, targetsOf(privateTargets, environment));
      if ((await countEndpointsLocked(db, environment)) >= ENDPOINTS_MAX) throw tooMany();
      const id = newId('we');
      const { secret, sealed } = newSecret({ environment, endpointId: id }, sealingKey);
      const events = [...new Set(body.events)];
      const fields = { id, url: body.url, events, secret: sealed, createdAt: new Date(nowMs) };
      const row = await insertEndpoint(db, environment, fields);
      if (!row) throw new Defect('an inserted endpoint is missing');
      const after = shownEndpoint(row);
      await recordChange(context, { objectId: id, after });
      return { ...after, secret };
    },

    'webhookEndpoints.retrieve': async ({ db, environment }, { params: { endpointId } }) =>
      shownEndpoint((await findEndpoint(db, environment, endpointId)) ?? endpointNotFound(endpointId)),

    'webhookEndpoints.update': async (context, { params, body }) => {
      const row = await matchingEndpoint(context, params.endpointId);
      if (body.url !== undefined) checkWebhookUrl(body.url, targetsOf(privateTargets, context.environment));
      const { url = row.url, status = row.status } = body;
      const events = body.events ? [...new Set(body.events)] : row.events;
      const isForgiven = body.status === 'enabled' || url !== row.url;
      const disabledReason = status === 'enabled' ? null : row.disabledReason;
      return change(context, row, { url, events, status, disabledReason, isForgiven });
    },

    'webhookEndpoints.delete': async (context, { params }) => {
      const row = await matchingEndpoint(context, params.endpointId);
      await deleteEndpoint(context.db, context.environment, row.id);
      await recordChange(context, { objectId: row.id, before: shownEndpoint(row) });
      return {};
    },

    'webhookEndpoints.rotateSecret': async (context, { params, body }) => {
      const { db, environment, nowMs } = context;
      const row = await lockedEndpoint(context, params.endpointId);
      const { secret, sealed } = newSecret({ environment, endpointId: row.id }, sealingKey);
      const { overlapSeconds = OVERLAP_SECONDS } = body;
      const previousUntil = overlapSeconds === 0 ? null : new Date(nowMs + overlapSeconds * 1_000);
      const updatedAt = new Date(nowMs);
      await replaceSecret(db, environment, { id: row.id, secret: sealed, previousUntil, updatedAt });
      const shown = shownEndpoint(row);
      const after = { ...shown, ...shownUntil(previousUntil) };
      await recordChange(context, { objectId: row.id, before: shown, after });
      return { ...after, secret };
    },
  };
}

const eventHandlers: Pick<Handlers, 'webhookEvents.list' | 'webhookEvents.retrieve'> = {
  'webhookEvents.list': async ({ db, environment }, { query }) => {
    const { fromMs, toMs } = openSpan(query);
    const { page, pageSize, type } = query;
    const filter = { page, pageSize, type, from: new Date(fromMs), to: new Date(toMs) };
    const { rows, total } = await listEvents(db, environment, filter);
    return pageOf(
      rows.map(({ body }) => shownEvent(body)),
      total,
      query,
    );
  },

  'webhookEvents.retrieve': async ({ db, environment }, { params }) => {
    const body = await findEvent(db, environment, params.eventId);
    if (body !== undefined) return shownEvent(body);
    throw new Rejected('not_found', `There is no event ${params.eventId}.`, { param: 'eventId' });
  },
};

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const OVERLAP_SECONDS = 86_400;

/** The secret for the response, and sealed as it is stored. */
function newSecret(owner: SecretOwner, sealingKey: Buffer): { secret: string; sealed: Buffer } {
  const secret = `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
  return { secret, sealed: sealWebhookSecret(secret, owner, sealingKey) };
}

/** To the same values: no event is emitted, though the failures may be reset. */
async function change(
  context: RequestContext,
  row: WebhookEndpointRow,
  fields: Omit<EndpointFields, 'id' | 'updatedAt'>,
): Promise<WebhookEndpoint> {
  const { db, environment, nowMs } = context;
  const updated = await updateEndpoint(db, environment, {
    ...fields,
    id: row.id,
    updatedAt: new Date(nowMs),
  });
  if (!updated) throw new Defect('a locked endpoint is missing');
  const [before, after] = [shownEndpoint(row), shownEndpoint(updated)];
  if (changedFields(before, after).length > 0)
    await recordChange(context, { objectId: row.id, before, after });
  return after;
}

/** Locked, for any further use. Throws Rejected `endpoint_not_found`. */
export async function lockedEndpoint(
  { db, environment }: RequestContext,
  id: string,
): Promise<WebhookEndpointRow> {
  return (await lockEndpoint(db, environment, id)) ?? endpointNotFound(id);
}

/** Locked, and as its caller saw it. */
async function matchingEndpoint(context: RequestContext, id: string): Promise<WebhookEndpointRow> {
  const row = await lockedEndpoint(context, id);
  requireMatch(context, shownEndpoint(row));
  return row;
}

export function endpointNotFound(id: string): never {
  throw new Rejected('endpoint_not_found', `There is no webhook endpoint ${id}.`, { param: 'endpointId' });
}

function tooMany(): Rejected {
  const message = `An environment can have at most ${ENDPOINTS_MAX} webhook endpoints. Delete one first.`;
  return new Rejected('invalid_request', message, { details: { endpointsMax: ENDPOINTS_MAX } });
}

export function shownEndpoint(row: WebhookEndpointRow): WebhookEndpoint {
  const { id, url, events, status, disabledReason, createdAt } = row;
  return {
    id,
    url,
    events,
    status,
    ...(disabledReason === null ? {} : { disabledReason }),
    createdAt: timestampText(createdAt.getTime()),
  };
}

function shownFailing(row: FailingEndpointRow): FailingWebhookEndpoint {
  const { id, url, failures, failingSince, lastStatus, lastError, pausedUntil } = row;
  return {
    endpointId: id,
    url,
    failures,
    failingSince: timestampText(failingSince.getTime()),
    ...(lastStatus === null ? {} : { lastStatus }),
    ...(lastError === null ? {} : { lastError }),
    ...(pausedUntil === null ? {} : { pausedUntil: timestampText(pausedUntil.getTime()) }),
  };
}

function shownUntil(previousUntil: Date | null): { previousSecretUntil?: string } {
  return previousUntil === null ? {} : { previousSecretUntil: timestampText(previousUntil.getTime()) };
}

/** Its numbers keep their text, so that it is printed as it is stored. */
export function shownEvent(body: string): EventEnvelope {
  return parseExact(body) as EventEnvelope;
}
