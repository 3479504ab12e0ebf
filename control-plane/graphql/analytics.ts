import { GRANULARITIES } from '../../schemas/resources/meter-usage.ts';
import { DELIVERY_FILTERS } from '../../schemas/resources/webhook-deliveries.ts';
import { costOfList } from './connections.ts';
import { onwardArgs, onwardPage, onwardType } from './onward-pages.ts';
import { enumOf } from './resource-fields.ts';
import {
  Customer,
  CustomerCost,
  Meter,
  MeterUsage,
  Subscription,
  SubscriptionCost,
  UsageLevel,
  WebhookDelivery,
} from './resource-types.ts';
import { readAs } from './rest-reads.ts';
import { builder } from './schema-builder.ts';
import { analysisArgs, analysisOf, consistencyArg, LONG_READ_COST, spanArgs } from './usage-arguments.ts';

const Granularity = enumOf('Granularity', GRANULARITIES);
const Levels = onwardType('UsageLevel', UsageLevel);
const Deliveries = onwardType('WebhookDelivery', WebhookDelivery);

builder.queryFields((t) => ({
  usageLevels: t.field({
    type: Levels,
    description: 'Customers by the share of a limit or budget used, largest first.',
    authScopes: { as: 'usageLevels.list' },
    args: {
      ...onwardArgs,
      above: t.arg.float({ description: 'Only entries with at least this share. Default: 0.8.' }),
      featureKey: t.arg.id({ description: 'A metered feature: only entries of its meter.' }),
    },
    complexity: costOfList(),
    resolve: (_, { first, after, ...filter }, context) =>
      onwardPage({ first, after }, (page) =>
        readAs(context, 'usageLevels.list', { query: { ...filter, ...page } }),
      ),
  }),
  webhookDeliveries: t.field({
    type: Deliveries,
    description: 'Of all endpoints, newest first; they are stored for 30 days.',
    authScopes: { as: 'webhookDeliveries.listAll' },
    args: {
      ...onwardArgs,
      ...spanArgs,
      status: t.arg({ type: enumOf('WebhookDeliveryFilter', DELIVERY_FILTERS) }),
      endpointId: t.arg.id(),
      type: t.arg.string({ description: 'Of the event.' }),
    },
    complexity: costOfList(),
    resolve: (_, { first, after, ...filter }, context) =>
      onwardPage({ first, after }, (page) =>
        readAs(context, 'webhookDeliveries.listAll', { query: { ...filter, ...page } as object }),
      ),
  }),
}));

builder.objectField(Meter, 'usage', (t) =>
  t.field({
    type: MeterUsage,
    description: 'Over all customers, with from ≤ `occurredAt` < to.',
    authScopes: { as: 'meterUsage.retrieve' },
    args: {
      from: t.arg.string({ required: true }),
      to: t.arg.string({ required: true, description: 'Exclusive.' }),
      granularity: t.arg({ type: Granularity, description: 'Default: one bucket, all of the time range.' }),
      groupBy: t.arg.stringList({ description: '`customerId` and names of properties, up to three.' }),
      limit: t.arg.int({ description: 'Groups; the others are combined in `other`.' }),
      ...analysisArgs,
      ...consistencyArg,
    },
    complexity: { field: LONG_READ_COST, multiplier: 1 },
    resolve: ({ key: meterId }, { groupBy, ...args }, context) => {
      const query = { ...analysisOf(args), groupBy: groupBy?.join(',') };
      return readAs(context, 'meterUsage.retrieve', { params: { meterId }, query: query as object });
    },
  }),
);

const costArgs = builder.args((t) => ({
  from: t.string({ description: 'With `to`. Default: the start of the current billing period.' }),
  to: t.string({ description: 'Exclusive. Default: the end of that period.' }),
}));

builder.objectField(Customer, 'cost', (t) =>
  t.field({
    type: CustomerCost,
    description: 'What its subscriptions cost, line by line.',
    authScopes: { as: 'cost.ofCustomer' },
    args: { ...costArgs, ...consistencyArg },
    complexity: { field: LONG_READ_COST, multiplier: 1 },
    resolve: ({ id: customerId }, query, context) =>
      readAs(context, 'cost.ofCustomer', { params: { customerId }, query: query as object }),
  }),
);

builder.objectField(Subscription, 'cost', (t) =>
  t.field({
    type: SubscriptionCost,
    description: 'What it costs, line by line.',
    authScopes: { as: 'cost.ofSubscription' },
    args: { ...costArgs, ...consistencyArg },
    complexity: { field: LONG_READ_COST, multiplier: 1 },
    resolve: ({ id: subscriptionId }, query, context) =>
      readAs(context, 'cost.ofSubscription', { params: { subscriptionId }, query: query as object }),
  }),
);
