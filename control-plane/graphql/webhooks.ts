import { timestampMs } from '../../schemas/primitives/timestamp.ts';
import {
  DELIVERY_FILTERS,
  type WebhookAttempt as ShownAttempt,
} from '../../schemas/resources/webhook-deliveries.ts';
import type { EventEnvelope } from '../../schemas/resources/webhooks.ts';
import { shownAttempt, shownDelivery } from '../routes/webhook-deliveries.ts';
import { shownEndpoint, shownEvent } from '../routes/webhooks.ts';
import { deliveryList } from '../store/webhook-deliveries.ts';
import { eventList } from '../store/webhook-events.ts';
import { openSpan } from '../usage/window.ts';
import { connectionType, costOfList, pageArgs, parentPage, rootPage } from './connections.ts';
import { enumOf } from './resource-fields.ts';
import { WebhookAttempt, WebhookDelivery, WebhookEndpoint } from './resource-types.ts';
import { checkedQuery, readAs } from './rest-reads.ts';
import { builder } from './schema-builder.ts';

const DeliveryFilter = enumOf('WebhookDeliveryFilter', DELIVERY_FILTERS);

const WebhookEvent = builder.objectRef<EventEnvelope>('WebhookEvent').implement({
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false }),
    type: t.exposeString('type', { nullable: false }),
    createdAt: t.field({ type: 'DateTime', nullable: false, resolve: ({ created_at }) => created_at }),
    data: t.field({ type: 'JSON', nullable: false, resolve: ({ data }) => data }),
  }),
});

const Deliveries = connectionType('WebhookDelivery', WebhookDelivery);
const Events = connectionType('WebhookEvent', WebhookEvent);

/** Each has a body. */
const EVENT_COST = 5;
/** At most ten, each with texts of some KiB. */
const ATTEMPTS_COST = 20;

builder.queryFields((t) => ({
  webhookEndpoints: t.field({
    type: [WebhookEndpoint],
    description: 'All of them, newest first.',
    authScopes: { as: 'listWebhookEndpoints' },
    resolve: async (_, _args, context) => (await readAs(context, 'listWebhookEndpoints', {})).data,
  }),
  webhookEndpoint: t.field({
    type: WebhookEndpoint,
    authScopes: { as: 'webhookEndpoints.retrieve' },
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, context) =>
      readAs(context, 'webhookEndpoints.retrieve', { params: { endpointId: id } }),
  }),
  webhookDelivery: t.field({
    type: WebhookDelivery,
    authScopes: { as: 'webhookDeliveries.retrieve' },
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, context) =>
      readAs(context, 'webhookDeliveries.retrieve', { params: { deliveryId: id } }),
  }),
  webhookEvents: t.field({
    type: Events,
    description: 'Newest first, without test events.',
    authScopes: { as: 'webhookEvents.list' },
    args: { ...pageArgs, type: t.arg.string(), from: t.arg.string(), to: t.arg.string() },
    complexity: costOfList(EVENT_COST),
    resolve: (_, args, context) => {
      const { type, ...span } = checkedQuery('webhookEvents.list', args as object);
      const { fromMs, toMs } = openSpan(span);
      const list = eventList(context.environment, { type, from: new Date(fromMs), to: new Date(toMs) });
      const shown = ({ body }: { body: string }) => shownEvent(body);
      return rootPage(context, { name: 'webhookEvents', list, shown }, args);
    },
  }),
  webhookEvent: t.field({
    type: WebhookEvent,
    authScopes: { as: 'webhookEvents.retrieve' },
    args: { id: t.arg.id({ required: true }) },
    complexity: EVENT_COST,
    resolve: (_, { id }, context) => readAs(context, 'webhookEvents.retrieve', { params: { eventId: id } }),
  }),
}));

builder.objectField(WebhookEndpoint, 'deliveries', (t) =>
  t.field({
    type: Deliveries,
    description: 'Newest first; they are stored for 30 days.',
    authScopes: { as: 'webhookDeliveries.list' },
    args: { ...pageArgs, status: t.arg({ type: DeliveryFilter }) },
    complexity: costOfList(),
    resolve: ({ id: parentId }, args, context) => {
      const list = deliveryList(context.environment, checkedQuery('webhookDeliveries.list', args as object));
      const shownAs = { name: 'deliveries', shown: shownDelivery };
      return parentPage(context, { ...shownAs, list, column: 'd.endpoint_id', parentId }, args);
    },
  }),
);

builder.objectFields(WebhookDelivery, (t) => ({
  endpoint: t.field({
    type: WebhookEndpoint,
    description: 'null when it was deleted.',
    authScopes: { as: 'webhookEndpoints.retrieve' },
    resolve: async ({ endpointId }, _, { loaders }) => {
      const row = await loaders.endpoints.load(endpointId);
      return row && shownEndpoint(row);
    },
  }),
  event: t.field({
    type: WebhookEvent,
    authScopes: { as: 'webhookEvents.retrieve' },
    complexity: EVENT_COST,
    resolve: async ({ eventId }, _, { loaders }) => {
      const body = await loaders.events.load(eventId);
      return body === undefined ? undefined : shownEvent(body);
    },
  }),
  attempts: t.field({
    type: [WebhookAttempt],
    description: 'In their order, at most ten.',
    authScopes: { as: 'webhookDeliveries.retrieve' },
    complexity: { field: ATTEMPTS_COST, multiplier: 10 },
    resolve: async (delivery, _, { loaders }): Promise<ShownAttempt[]> => {
      const createdAt = new Date(timestampMs(delivery.createdAt) ?? 0);
      return (await loaders.attempts.load({ id: delivery.id, createdAt })).map(shownAttempt);
    },
  }),
}));
