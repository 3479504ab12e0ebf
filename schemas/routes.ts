import { addonRoutes } from './resources/addons.ts';
import { apiKeyRoutes } from './resources/api-keys.ts';
import { auditLogRoutes } from './resources/audit-log.ts';
import { budgetRoutes } from './resources/budgets.ts';
import { cloudEventRoutes } from './resources/cloud-events.ts';
import { costRoutes } from './resources/cost.ts';
import { creditRoutes } from './resources/credits.ts';
import { customerTokenRoutes } from './resources/customer-tokens.ts';
import { customerRoutes } from './resources/customers.ts';
import { entitlementFeedRoutes } from './resources/entitlement-feed.ts';
import { entitlementRoutes } from './resources/entitlements.ts';
import { featureRoutes } from './resources/features.ts';
import { funnelRoutes } from './resources/funnel.ts';
import { graphqlRoutes } from './resources/graphql.ts';
import { integrationRoutes } from './resources/integrations.ts';
import { meterUsageRoutes } from './resources/meter-usage.ts';
import { meterRoutes } from './resources/meters.ts';
import { overrideRoutes } from './resources/overrides.ts';
import { planRoutes } from './resources/plans.ts';
import { pricingRoutes } from './resources/pricing.ts';
import { productRoutes } from './resources/products.ts';
import { recurringGrantRoutes } from './resources/recurring-grants.ts';
import { reservationRoutes } from './resources/reservations.ts';
import { serviceRoutes } from './resources/service.ts';
import { simulationRoutes } from './resources/simulations.ts';
import { subscriptionRoutes } from './resources/subscriptions.ts';
import { usageRoutes } from './resources/usage.ts';
import { usageCorrectionRoutes } from './resources/usage-corrections.ts';
import { usageEventRoutes } from './resources/usage-events.ts';
import { usageLevelRoutes } from './resources/usage-levels.ts';
import { usageLiveRoutes } from './resources/usage-live.ts';
import { webhookDeliveryRoutes } from './resources/webhook-deliveries.ts';
import { webhookRoutes } from './resources/webhooks.ts';
import { widgetRoutes } from './resources/widget.ts';
import { workspaceRoutes } from './resources/workspace.ts';
import type { Route } from './route.ts';

/**
 * Every operation of the HTTP API by its operation id. The file of a resource has its schemas and its rows.
 */
export const ROUTES = {
  ...customerRoutes,
  ...customerTokenRoutes,
  ...creditRoutes,
  ...overrideRoutes,
  ...budgetRoutes,
  ...productRoutes,
  ...planRoutes,
  ...recurringGrantRoutes,
  ...pricingRoutes,
  ...featureRoutes,
  ...addonRoutes,
  ...meterRoutes,
  ...meterUsageRoutes,
  ...subscriptionRoutes,
  ...entitlementRoutes,
  ...entitlementFeedRoutes,
  ...reservationRoutes,
  ...usageEventRoutes,
  ...cloudEventRoutes,
  // Before paths with `{customerId}` in the place of `corrections`.
  ...usageCorrectionRoutes,
  ...usageRoutes,
  ...costRoutes,
  ...simulationRoutes,
  ...usageLevelRoutes,
  ...usageLiveRoutes,
  ...integrationRoutes,
  ...funnelRoutes,
  ...webhookRoutes,
  ...webhookDeliveryRoutes,
  ...apiKeyRoutes,
  ...workspaceRoutes,
  ...auditLogRoutes,
  ...graphqlRoutes,
  ...serviceRoutes,
  ...widgetRoutes,
} as const satisfies Record<string, Route>;

export type Routes = typeof ROUTES;
export type OperationId = keyof Routes;

/** Operations of the control plane that require a key, or none. */
type OperationsOf<Public extends boolean> = {
  [Id in OperationId]: Routes[Id]['plane'] extends 'control'
    ? Routes[Id]['access'] extends 'public'
      ? Public extends true
        ? Id
        : never
      : Public extends true
        ? never
        : Id
    : never;
}[OperationId];

/** Served by the control plane, for the environment of an API key. */
export type KeyedOperationId = OperationsOf<false>;

/** Served without a key. */
export type PublicOperationId = OperationsOf<true>;
