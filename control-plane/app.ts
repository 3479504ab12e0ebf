import Koa from 'koa';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { FirstCallStamp } from '../infra/first-call-stamp.ts';
import type { LastUsedStamp } from '../infra/last-used-stamp.ts';
import type { Clock } from '../infra/ports/clock.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import type { DerivedSecrets } from '../infra/secrets.ts';
import { answerAlways } from './answer.ts';
import { createAuthorise } from './auth.ts';
import { createHoldingReads } from './entitlements/holding-reads.ts';
import { createRunChange } from './idempotent.ts';
import { createHttpMetrics } from './metrics.ts';
import { mountRoutes } from './mount-routes.ts';
import { createOperations } from './operations.ts';
import { createRateLimit, type RateLimits } from './rate-limit.ts';
import { createReadiness, type LagLimits } from './readiness.ts';
import { addonHandlers } from './routes/addons.ts';
import { createApiKeyHandlers } from './routes/api-keys.ts';
import { auditLogHandlers } from './routes/audit-log.ts';
import { customerHandlers } from './routes/customers.ts';
import { createEntitlementHandlers } from './routes/entitlements.ts';
import { featureHandlers } from './routes/features.ts';
import { funnelHandlers } from './routes/funnel.ts';
import { createIntegrationHandlers } from './routes/integrations.ts';
import { meterHandlers } from './routes/meters.ts';
import { planHandlers } from './routes/plans.ts';
import { createProcessorWebhookHandlers } from './routes/processor-webhooks.ts';
import { productHandlers } from './routes/products.ts';
import { createServicePages } from './routes/service.ts';
import { subscriptionHandlers } from './routes/subscriptions.ts';
import { createUsageHandlers } from './routes/usage.ts';
import { createWebhookHandlers } from './routes/webhooks.ts';
import { workspaceHandlers } from './routes/workspace.ts';
import type { Freshness } from './usage/freshness.ts';

export interface AppDeps {
  pool: Pool;
  warehouse: Warehouse;
  freshness: Freshness;
  firstCalls: FirstCallStamp;
  lastUsed: LastUsedStamp;
  secrets: DerivedSecrets;
  clock: Clock;
  log: Logger;
  metrics: Registry;
}

export interface AppOptions {
  lagLimits?: LagLimits;
  rateLimits?: RateLimits;
  /** Webhooks may go to http and to addresses that are not public. */
  webhookAllowPrivate?: boolean;
}

/** The HTTP API but for what the data plane answers, as a Koa app made from the route table. */
export function createApp(deps: AppDeps, options: AppOptions = {}): Koa {
  const { lagLimits, rateLimits = {}, webhookAllowPrivate: allowPrivate = false } = options;
  const { pool, warehouse, freshness, secrets, clock, log, metrics } = deps;
  const readiness = createReadiness({
    pool,
    warehouse,
    freshness,
    ...(lagLimits ? { limits: lagLimits } : {}),
  });
  const holdingReads = createHoldingReads();
  const operations = createOperations({
    handlers: {
      ...customerHandlers,
      ...productHandlers,
      ...planHandlers,
      ...featureHandlers,
      ...addonHandlers,
      ...meterHandlers,
      ...createIntegrationHandlers(secrets),
      ...createProcessorWebhookHandlers(secrets),
      ...funnelHandlers,
      ...createWebhookHandlers({ sealingKey: secrets.sealingKey, allowPrivate }),
      ...createApiKeyHandlers(secrets),
      ...workspaceHandlers,
      ...auditLogHandlers,
      ...subscriptionHandlers,
      ...createEntitlementHandlers({ warehouse, freshness, holdingReads }),
      ...createUsageHandlers({ warehouse, freshness, holdingReads }),
    },
    pages: createServicePages({ readiness, metrics }),
    authorise: createAuthorise({ ...deps, keyPepper: secrets.keyPepper, nowMs: clock.nowMs }),
    takeRequest: createRateLimit(clock, rateLimits),
    runChange: createRunChange(pool, secrets.sealingKey),
    pool,
    clock,
  });

  const app = new Koa();
  app.on('error', (err) => log.debug({ err }, 'an answer could not be delivered'));
  app.use(answerAlways(log, createHttpMetrics(metrics)));
  for (const middleware of mountRoutes(operations)) app.use(middleware);
  return app;
}
