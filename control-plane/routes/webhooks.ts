import { randomBytes } from 'node:crypto';
import { seal } from '../../infra/secrets.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/ids.ts';
import { ENDPOINTS_MAX, type EventEnvelope, type WebhookEndpoint } from '../../schemas/resources/webhooks.ts';
import { parseExact } from '../../schemas/rules/exact-json.ts';
import { timestampText } from '../../schemas/rules/timestamp.ts';
import { pageOf } from '../page.ts';
import { recordChange } from '../record-change.ts';
import type { Handlers } from '../request-context.ts';
import {
  countEndpointsLocked,
  insertEndpoint,
  listEndpoints,
  type WebhookEndpointRow,
} from '../store/webhook-endpoints.ts';
import { findEvent, listEvents } from '../store/webhook-events.ts';
import { openSpan } from '../usage/window.ts';
import { checkWebhookUrl } from '../webhook-url.ts';

export interface WebhookDeps {
  sealingKey: Buffer;
  /** http and addresses that are not public may be registered. */
  allowPrivate: boolean;
}

type WebhookOperation =
  | 'listWebhookEndpoints'
  | 'createWebhookEndpoint'
  | 'webhookEvents.list'
  | 'webhookEvents.retrieve';

export function createWebhookHandlers({
  sealingKey,
  allowPrivate,
}: WebhookDeps): Pick<Handlers, WebhookOperation> {
  return {
    listWebhookEndpoints: async ({ db, environment }) => ({
      data: (await listEndpoints(db, environment)).map(shownEndpoint),
    }),

    createWebhookEndpoint: async (context, { body }) => {
      const { db, environment, nowMs } = context;
      checkWebhookUrl(body.url, { allowPrivate });
      if ((await countEndpointsLocked(db, environment)) >= ENDPOINTS_MAX) throw tooMany();
      const id = newId('we');
      const secret = newSigningSecret();
      const row = await insertEndpoint(db, environment, {
        id,
        url: body.url,
        events: [...new Set(body.events)],
        secret: seal(Buffer.from(secret), sealingKey, `${environment}/webhook-secret/${id}`),
        createdAt: new Date(nowMs),
      });
      if (!row) throw new Defect('an inserted endpoint is gone');
      const after = shownEndpoint(row);
      await recordChange(context, { objectId: id, after });
      return { ...after, secret };
    },

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
}

const SECRET_BYTES = 32;

function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

function tooMany(): Rejected {
  const message = `There are ${ENDPOINTS_MAX} endpoints, as many as there can be: let one of them take this.`;
  return new Rejected('invalid_request', message, { details: { endpointsMax: ENDPOINTS_MAX } });
}

function shownEndpoint({ id, url, events, status, createdAt }: WebhookEndpointRow): WebhookEndpoint {
  return { id, url, events, status, createdAt: timestampText(createdAt.getTime()) };
}

/** Its numbers keep their text, so that it is printed as it is stored. */
function shownEvent(body: string): EventEnvelope {
  return parseExact(body) as EventEnvelope;
}
