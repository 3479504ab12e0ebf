/** The control plane as a process of its own, one of any number: `npm run control-plane`. */

import { createControlPlane } from '../../control-plane/control-plane.ts';
import { rejectOtherWarehouse } from '../../domain/reject-other-warehouse.ts';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { createMetrics } from '../../infra/platform/metrics.ts';
import { createOperatorAccess } from '../../infra/platform/operator-access.ts';
import { retryUntilAvailable } from '../../infra/platform/retry-until-available.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import { traceRequests } from '../../infra/tracing/trace-listener.ts';
import { checkRoleNeeds } from '../config/role-needs.ts';
import { prepareInstallation } from '../prepare-installation.ts';
import { createControlServer } from './control-server.ts';
import { loadLater } from './load-later.ts';
import { openTracing } from './open-tracing.ts';
import { openOperatorPort } from './operator-port.ts';
import { ownUsageOfThisProcess } from './own-usage.ts';
import { runRole } from './role-process.ts';
import { openRoleLog, openRolePostgres, openRoleWarehouse } from './role-stores.ts';

await runRole('control-plane', async (context) => {
  const { config, closer, log } = context;
  checkRoleNeeds('control-plane', config);
  const role = { ...context, config };
  const server = await createControlServer({ ...config, log });
  closer.add('server', { close: server.close });

  const { pool, url } = await openRolePostgres(role);
  // No folder is the right one for the keys of a demo. `npm run admin -- workspace create` prints them.
  const secrets = await prepareInstallation(
    { config, paths: dataDirAt(config.dataDir), pool },
    { seedDemo: 'false' },
  );
  const { warehouse, stamps } = await openRoleWarehouse(role, { waits: false });
  // It serves everything else until ClickHouse is available.
  retryUntilAvailable('ClickHouse', () => rejectOtherWarehouse(pool, stamps), log).catch(role.fail);
  const { reader: logReader, keepsMs: logKeepsMs } = await openRoleLog(role, pool);
  const metrics = createMetrics('control');
  const usageWriter = ownUsageOfThisProcess(role, { pool, url }, secrets);
  const controlPlane = createControlPlane(
    { pool, warehouse, logReader, logKeepsMs, secrets, clock: systemClock, log, metrics, usageWriter },
    {
      rateLimits: { secret: config.rateLimit },
      webhookTargets: config.webhookTargets,
      access: createOperatorAccess(config),
    },
  );
  closer.add('control plane', { drain: () => controlPlane.close() });
  closer.add('listener', createListener({ url, log }, controlPlane.notifications));
  // Drained first, closed last.
  closer.add('requests', { drain: server.drain });
  closer.add('streams', { drain: controlPlane.endStreams });
  const spans = openTracing(context);
  const { listener } = controlPlane;
  server.serve(spans ? traceRequests(listener, spans) : listener);
  await openOperatorPort(config, context, controlPlane.listener);
  loadLater(context, controlPlane.loadGraphql);
  return { port: Number(new URL(server.url).port) };
});
