import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { KeyCache } from '../domain/api-key-cache.ts';
import type { FirstCallStamp } from '../domain/first-call-stamp.ts';
import type { JobWatch } from '../domain/job-watch.ts';
import type { LastUsedStamp } from '../domain/last-used-stamp.ts';
import type { DerivedSecrets } from '../domain/secrets.ts';
import { OPEN_ACCESS, type OperatorAccess } from '../infra/platform/operator-access.ts';
import type { PrivateTargets } from '../infra/platform/private-targets.ts';
import type { Clock } from '../infra/ports/clock.ts';
import type { EventLogReader } from '../infra/ports/event-log.ts';
import type { UsageWriter } from '../infra/ports/usage-writer.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import type { LiveUsage } from './analytics/live/live-usage.ts';
import { createCustomerGrantsReads } from './entitlements/cache/customer-grants-reads.ts';
import type { EntitlementCache } from './entitlements/cache/entitlement-cache.ts';
import { withLocalInvalidation } from './entitlements/cache/local-invalidation.ts';
import { createCachedChecks } from './entitlements/check/cached-checks.ts';
import { createCheckEntitlements, createReadFacts } from './entitlements/check/check-entitlements.ts';
import { createCheckFastPath } from './entitlements/check/check-fast-path.ts';
import { createEntitlementFeed } from './entitlements/feed/entitlement-feed.ts';
import { createGraphiqlPages } from './graphql/graphiql-page.ts';
import { withGraphql } from './graphql/with-graphql.ts';
import { createReadiness, type LagLimits } from './health/readiness.ts';
import { createShownReadiness } from './health/shown-readiness.ts';
import { createAuthorise } from './http/auth.ts';
import { createRunChange } from './http/idempotent.ts';
import { mountRoutes } from './http/mount-routes.ts';
import { createOperations } from './http/operations.ts';
import { createRateLimit, type RateLimits } from './http/rate-limit.ts';
import { createRequestPlaces } from './http/request-slots.ts';
import { respondAlways } from './http/respond.ts';
import {
  createFeedGauges,
  createHttpMetrics,
  createProcessorMetrics,
  type ReservationMetrics,
} from './metrics.ts';
import { createReadHoldFacts } from './reservations/hold-facts.ts';
import { addonHandlers } from './routes/addons.ts';
import { createApiKeyHandlers } from './routes/api-keys.ts';
import { auditLogHandlers } from './routes/audit-log.ts';
import { budgetHandlers } from './routes/budgets.ts';
import { createCostHandlers } from './routes/cost.ts';
import { creditHandlers } from './routes/credits.ts';
import { createCustomerTokenHandlers } from './routes/customer-tokens.ts';
import { customerHandlers } from './routes/customers.ts';
import { createEntitlementFeedHandlers } from './routes/entitlement-feed.ts';
import { cachedEntitlementResponses, createEntitlementHandlers } from './routes/entitlements.ts';
import { featureHandlers } from './routes/features.ts';
import { funnelHandlers } from './routes/funnel.ts';
import { createIntegrationHandlers } from './routes/integrations.ts';
import { meterHandlers } from './routes/meters.ts';
import { overrideHandlers } from './routes/overrides.ts';
import { planHandlers } from './routes/plans.ts';
import { createPricingHandlers } from './routes/pricing.ts';
import { processorEventHandlers } from './routes/processor-events.ts';
import { createProcessorWebhookHandlers } from './routes/processor-webhooks.ts';
import { productHandlers } from './routes/products.ts';
import { createReservingHandlers } from './routes/reserving.ts';
import { createServicePages } from './routes/service.ts';
import { simulationHandlers } from './routes/simulations.ts';
import { subscriptionHandlers } from './routes/subscriptions.ts';
import { createUsageHandlers } from './routes/usage.ts';
import { createUsageCorrectionHandlers } from './routes/usage-corrections.ts';
import { webhookDeliveryHandlers } from './routes/webhook-deliveries.ts';
import { createWebhookHandlers } from './routes/webhooks.ts';
import { workspaceHandlers } from './routes/workspace.ts';
import type { Freshness } from './usage/freshness.ts';
import { createReadLong, type ReadLong } from './usage/long-reads.ts';
import { createWidgetPages } from './widget/widget-pages.ts';

export interface AppDeps {
  pool: Pool;
  warehouse: Warehouse;
  freshness: Freshness;
  liveUsage: LiveUsage;
  /** Hex. */
  logId: string;
  firstCalls: FirstCallStamp;
  lastUsed: LastUsedStamp;
  keys: KeyCache;
  /** The keys that create customer tokens, by id. */
  tokenIssuers: KeyCache;
  entitlementCache: EntitlementCache;
  /** Invalidates the caches of this process after it has committed a change. */
  invalidate: (channel: string, payload: string) => void;
  jobWatch: JobWatch;
  reservationMetrics: ReservationMetrics;
  usageWriter: UsageWriter;
  logReader: EventLogReader;
  secrets: DerivedSecrets;
  clock: Clock;
  log: Logger;
  metrics: Registry;
}

export interface AppOptions {
  lagLimits?: LagLimits;
  rateLimits?: RateLimits;
  /** Which callers see metrics and the details of readiness. Default: all of them. */
  access?: OperatorAccess;
  /** The publishable key of the demo workspace's test mode, where there is one. Default: there is none. */
  demoKey?: () => string | undefined;
  /** Private addresses that webhooks may reach in addition to public ones. Default: none. */
  webhookTargets?: PrivateTargets;
}

export interface App {
  listener: RequestListener;
  /** Ends the feeds of entitlements; from now on none begins. */
  endFeeds(): void;
  /** Loads the modules that GraphQL alone needs. Its first query waits for them otherwise. */
  loadGraphql(): Promise<unknown>;
}

/**
 * The control plane's part of the HTTP API: a Koa app built from the route table, behind the check fast path.
 */
export function createApp(deps: AppDeps, options: AppOptions = {}): App {
  const { lagLimits, rateLimits = {}, webhookTargets = 'none', access = OPEN_ACCESS } = options;
  const { pool, warehouse, freshness, secrets, clock, log, metrics } = deps;
  const readiness = createShownReadiness(createReadiness({ ...deps, limits: lagLimits }), access);
  const customerGrantsReads = createCustomerGrantsReads();
  const readFacts = createReadFacts({ warehouse, freshness, customerGrantsReads });
  const checkEntitlements = createCheckEntitlements(readFacts);
  const checks = createCachedChecks({ ...deps.entitlementCache, customerGrantsReads, checkEntitlements });
  const { takeRequest, chargeRequest } = createRateLimit(clock, rateLimits);
  const reads = { customerGrantsReads, checks };
  const feed = createEntitlementFeed({ ...deps, ...reads, asOfMs: freshness.asOfMs });
  createFeedGauges(metrics, feed.gauges);
  const runChange = withLocalInvalidation(createRunChange(pool, secrets.sealingKey), deps.invalidate);
  const readLong = createReadLong();
  const graphql = withGraphql(
    { ...deps, ...reads, readiness, chargeRequest },
    {
      ...createHandlers({ ...deps, readLong }, reads, webhookTargets),
      ...createUsageCorrectionHandlers({ ...deps, readLong, runChange }),
      ...createEntitlementFeedHandlers({ ...deps, feed }),
      ...createReservingHandlers({
        ...deps,
        ...{ sealingKey: secrets.sealingKey, metrics: deps.reservationMetrics },
        readHoldFacts: createReadHoldFacts({ ...deps.entitlementCache, customerGrantsReads, readFacts }),
      }),
    },
  );
  const operations = createOperations({
    handlers: graphql.handlers,
    pages: {
      ...createServicePages({ readiness, metrics, access }),
      ...createGraphiqlPages(),
      ...createWidgetPages(options),
    },
    authorise: createAuthorise({ ...deps, ...secrets, takeRequest, nowMs: clock.nowMs }),
    takeRequest,
    inPlace: createRequestPlaces(),
    runChange,
    pool,
    clock,
  });

  const app = new Koa();
  app.on('error', (err) => log.debug({ err }, 'a response could not be delivered'));
  const httpMetrics = createHttpMetrics(metrics);
  app.use(respondAlways(log, httpMetrics));
  for (const middleware of mountRoutes(operations)) app.use(middleware);
  const responses = cachedEntitlementResponses(checks);
  const fastPath = { ...deps, responses, takeRequest, metrics: httpMetrics };
  return {
    listener: createCheckFastPath(fastPath, app.callback()),
    endFeeds: feed.end,
    loadGraphql: graphql.load,
  };
}

type Reads = Parameters<typeof createEntitlementHandlers>[0];

/** Those of all operations with a key. */
function createHandlers(
  deps: AppDeps & { readLong: ReadLong },
  reads: Reads,
  webhookTargets: PrivateTargets,
) {
  const reading = { ...deps, ...reads };
  return {
    ...customerHandlers,
    ...createCustomerTokenHandlers(deps.secrets),
    ...creditHandlers,
    ...overrideHandlers,
    ...budgetHandlers,
    ...productHandlers,
    ...planHandlers,
    ...featureHandlers,
    ...addonHandlers,
    ...meterHandlers,
    ...createIntegrationHandlers(deps.secrets),
    ...createProcessorWebhookHandlers({ ...deps.secrets, metrics: createProcessorMetrics(deps.metrics) }),
    ...processorEventHandlers,
    ...funnelHandlers,
    ...createPricingHandlers(),
    ...createWebhookHandlers({ sealingKey: deps.secrets.sealingKey, privateTargets: webhookTargets }),
    ...webhookDeliveryHandlers,
    ...createApiKeyHandlers(deps.secrets),
    ...workspaceHandlers,
    ...auditLogHandlers,
    ...subscriptionHandlers,
    ...createEntitlementHandlers(reads),
    ...createUsageHandlers(reading),
    ...createCostHandlers(reading),
    ...simulationHandlers,
  };
}
