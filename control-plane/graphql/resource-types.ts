import type { Static } from 'typebox';
import { type TObject, type TSchema, Type } from 'typebox';
import { Addon as AddonSchema } from '../../schemas/resources/addons.ts';
import { ApiKey as ApiKeySchema } from '../../schemas/resources/api-keys.ts';
import { AuditEntry as AuditEntrySchema } from '../../schemas/resources/audit-log.ts';
import { Budget as BudgetSchema } from '../../schemas/resources/budgets.ts';
import {
  CostLine as CostLineSchema,
  CostTotal as CostTotalSchema,
  CustomerCost as CustomerCostSchema,
  SubscriptionCost as SubscriptionCostSchema,
} from '../../schemas/resources/cost.ts';
import {
  CreditGrant as CreditGrantSchema,
  CustomerCredits as CreditsSchema,
  CreditLedgerEntry as LedgerEntrySchema,
} from '../../schemas/resources/credits.ts';
import { Customer as CustomerSchema } from '../../schemas/resources/customers.ts';
import { GivenEntitlements } from '../../schemas/resources/entitlement-values.ts';
import {
  Contribution as ContributionSchema,
  EntitlementDecision,
} from '../../schemas/resources/entitlements.ts';
import { Feature as FeatureSchema } from '../../schemas/resources/features.ts';
import { Funnel as FunnelSchema, FunnelStage as FunnelStageSchema } from '../../schemas/resources/funnel.ts';
import {
  MeterUsageBucket,
  MeterUsageEntry,
  MeterUsageReport,
  ValueQuantiles,
} from '../../schemas/resources/meter-usage.ts';
import { Meter as MeterSchema } from '../../schemas/resources/meters.ts';
import { Override as OverrideSchema } from '../../schemas/resources/overrides.ts';
import { Plan as PlanSchema } from '../../schemas/resources/plans.ts';
import {
  PRICE_MODELS,
  type Price as ShownPrice,
  PriceTier as TierSchema,
} from '../../schemas/resources/prices.ts';
import { Product as ProductSchema } from '../../schemas/resources/products.ts';
import { Subscription as SubscriptionSchema } from '../../schemas/resources/subscriptions.ts';
import { UsageBreakdownReport, UsageCounter } from '../../schemas/resources/usage.ts';
import { UsageEvent as UsageEventSchema } from '../../schemas/resources/usage-events.ts';
import { UsageLevel as UsageLevelSchema } from '../../schemas/resources/usage-levels.ts';
import {
  WebhookAttempt as AttemptSchema,
  WebhookDelivery as DeliverySchema,
} from '../../schemas/resources/webhook-deliveries.ts';
import { WebhookEndpoint as EndpointSchema } from '../../schemas/resources/webhooks.ts';
import { Workspace as WorkspaceSchema } from '../../schemas/resources/workspace.ts';
import { SUBSCRIPTION_STATUSES } from '../../schemas/value-sets.ts';
import { enumOf, resourceType } from './resource-fields.ts';

/*
 * The types of GraphQL, each with the fields that the REST API shows of it. What one leads to, such as the
 * subscriptions of a customer, is added in the files of the areas.
 */

export const Customer = resourceType<CustomerSchema>('Customer', CustomerSchema);

const SubscriptionAddon = resourceType('SubscriptionAddon', SubscriptionSchema.properties.addons.items);
export const SubscriptionStatus = enumOf('SubscriptionStatus', SUBSCRIPTION_STATUSES);
/** GraphQL has another use for the name Subscription. */
export const Subscription = resourceType<SubscriptionSchema>('CustomerSubscription', SubscriptionSchema, {
  more: { addons: [SubscriptionAddon], status: SubscriptionStatus },
});

const Contribution = resourceType<ContributionSchema>('Contribution', ContributionSchema);
export const Entitlement = resourceType<EntitlementDecision>('Entitlement', EntitlementDecision, {
  description: 'What a customer may use of a feature at present, and why: the decision of a check.',
  more: { contributions: [Contribution] },
});

export const Counter = resourceType<UsageCounter>('Counter', UsageCounter, {
  description: 'The usage of a meter in the billing period of a customer.',
});

const Quantile = resourceType('ValueQuantile', ValueQuantiles.items);
const BreakdownEntry = resourceType(
  'BreakdownEntry',
  withCountsExact(UsageBreakdownReport.properties.breakdown.items),
  { more: { quantiles: [Quantile] } },
);
const BreakdownRest = resourceType('BreakdownRest', withCountsExact(UsageBreakdownReport.properties.other), {
  more: { quantiles: [Quantile] },
});
export const Breakdown = resourceType<Static<typeof UsageBreakdownReport>>(
  'Breakdown',
  UsageBreakdownReport,
  {
    description: 'Usage of a meter by the values of a property, or by time.',
    more: { breakdown: [BreakdownEntry], other: BreakdownRest, quantiles: [Quantile] },
  },
);

const UsageEntry = resourceType('MeterUsageEntry', withCountsExact(MeterUsageEntry), {
  more: { quantiles: [Quantile] },
});
const UsageBucket = resourceType('MeterUsageBucket', withCountsExact(MeterUsageBucket), {
  more: { quantiles: [Quantile] },
});
const UsageRest = resourceType('MeterUsageRest', withCountsExact(MeterUsageReport.properties.other), {
  more: { data: [UsageBucket], quantiles: [Quantile] },
});
export const MeterUsage = resourceType<MeterUsageReport>('MeterUsage', withCountsExact(MeterUsageReport), {
  description: 'Usage of a meter over all customers, by time and by groups.',
  more: { data: [UsageEntry], other: UsageRest, quantiles: [Quantile] },
});
export const UsageLevel = resourceType<UsageLevelSchema>('UsageLevel', UsageLevelSchema, {
  description: 'How much of a limit or budget a customer has used.',
});

const CostTotal = resourceType('CostTotal', CostTotalSchema);
const CostLine = resourceType('CostLine', CostLineSchema);
const costParts = { totals: [CostTotal], lines: [CostLine] };
export const CustomerCost = resourceType<Static<typeof CustomerCostSchema>>(
  'CustomerCost',
  CustomerCostSchema,
  { more: costParts },
);
export const SubscriptionCost = resourceType<Static<typeof SubscriptionCostSchema>>(
  'SubscriptionCost',
  SubscriptionCostSchema,
  { more: costParts },
);

export const UsageEvent = resourceType<Static<typeof UsageEventSchema>>('UsageEvent', UsageEventSchema);

const CreditGrant = resourceType<CreditGrantSchema>('CreditGrant', CreditGrantSchema);
export const Credits = resourceType<CreditsSchema>('Credits', CreditsSchema, {
  more: { grants: [CreditGrant] },
});
export const LedgerEntry = resourceType<LedgerEntrySchema>('CreditLedgerEntry', LedgerEntrySchema);
export const Budget = resourceType<BudgetSchema>('Budget', BudgetSchema);
export const Override = resourceType<OverrideSchema>('Override', OverrideSchema);

export const Product = resourceType<ProductSchema>('Product', ProductSchema);
export const Plan = resourceType<PlanSchema>('Plan', PlanSchema);
export const GivenEntitlement = resourceType<GivenEntitlements[number]>(
  'GivenEntitlement',
  GivenEntitlements.items,
  { description: 'What a plan or an add-on gives of a feature.' },
);
const PriceTier = resourceType('PriceTier', TierSchema);
export const Price = resourceType<ShownPrice>('Price', anyPrice(), {
  description: 'A price of any model. Members that its model does not have are null.',
  more: { tiers: [PriceTier] },
});
export const Feature = resourceType<FeatureSchema>('Feature', FeatureSchema);
export const Addon = resourceType<AddonSchema>('Addon', AddonSchema);
export const Meter = resourceType<MeterSchema>('Meter', MeterSchema);

export const WebhookEndpoint = resourceType<EndpointSchema>('WebhookEndpoint', EndpointSchema);
export const WebhookDelivery = resourceType<DeliverySchema>('WebhookDelivery', DeliverySchema);
export const WebhookAttempt = resourceType<AttemptSchema>('WebhookAttempt', AttemptSchema);

export const AuditEntry = resourceType<AuditEntrySchema>('AuditEntry', AuditEntrySchema);
export const ApiKey = resourceType<ApiKeySchema>('ApiKey', ApiKeySchema);
export const Workspace = resourceType<WorkspaceSchema>('Workspace', WorkspaceSchema);
const FunnelStage = resourceType('FunnelStage', FunnelStageSchema);
export const Funnel = resourceType<FunnelSchema>('Funnel', FunnelSchema, { more: { stages: [FunnelStage] } });

/** The members of all models; required are those that each of them requires. */
function anyPrice(): TSchema {
  const models = Object.values(PRICE_MODELS) as TObject[];
  const properties = Object.assign({}, ...models.map((one) => one.properties));
  const model = Type.Enum(Object.keys(PRICE_MODELS));
  const required = Object.keys(properties).filter((name) =>
    models.every((one) => (one.required as string[] | undefined)?.includes(name)),
  );
  return { type: 'object', properties: { ...properties, model }, required } as unknown as TSchema;
}

/** Events are counted in more than 32 bits. */
function withCountsExact(schema: TSchema): TSchema {
  const { properties } = schema as TObject;
  const count = Type.Unsafe({ type: 'integer', format: 'decimal' });
  return { ...schema, properties: { ...properties, count } } as unknown as TSchema;
}
