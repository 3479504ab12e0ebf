import Koa from 'koa';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { FirstCallStamp } from '../infra/first-call-stamp.ts';
import type { Clock } from '../infra/ports/clock.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import type { DerivedSecrets } from '../infra/secrets.ts';
import { answerAlways } from './answer.ts';
import { createAuthorise } from './auth.ts';
import { createRunChange } from './idempotent.ts';
import { createHttpMetrics } from './metrics.ts';
import { mountRoutes } from './mount-routes.ts';
import { createOperations } from './operations.ts';
import { createReadiness, type LagLimits } from './readiness.ts';
import { customerHandlers } from './routes/customers.ts';
import { integrationHandlers } from './routes/integrations.ts';
import { meterHandlers } from './routes/meters.ts';
import { createServicePages } from './routes/service.ts';
import { createUsageHandlers } from './routes/usage.ts';
import type { Freshness } from './usage/freshness.ts';

export interface AppDeps {
  pool: Pool;
  warehouse: Warehouse;
  freshness: Freshness;
  firstCalls: FirstCallStamp;
  secrets: DerivedSecrets;
  clock: Clock;
  log: Logger;
  metrics: Registry;
}

export interface AppOptions {
  lagLimits?: LagLimits;
}

/** The HTTP API but for what the data plane answers, as a Koa app made from the route table. */
export function createApp(deps: AppDeps, { lagLimits }: AppOptions = {}): Koa {
  const { pool, warehouse, freshness, firstCalls, secrets, clock, log, metrics } = deps;
  const readiness = createReadiness({
    pool,
    warehouse,
    freshness,
    ...(lagLimits ? { limits: lagLimits } : {}),
  });
  const operations = createOperations({
    handlers: {
      ...customerHandlers,
      ...meterHandlers,
      ...integrationHandlers,
      ...createUsageHandlers({ warehouse, freshness, clock }),
    },
    pages: createServicePages({ readiness, metrics }),
    authorise: createAuthorise({ pool, keyPepper: secrets.keyPepper, nowMs: clock.nowMs, firstCalls }),
    runChange: createRunChange(pool, secrets.sealingKey),
    pool,
  });

  const app = new Koa();
  app.on('error', (err) => log.debug({ err }, 'an answer could not be delivered'));
  app.use(answerAlways(log, createHttpMetrics(metrics)));
  for (const middleware of mountRoutes(operations)) app.use(middleware);
  return app;
}
