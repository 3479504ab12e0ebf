/** The aggregator as a process of its own, one of any number: `npm run aggregator`. */
import { randomUUID } from 'node:crypto';
import type { Check } from '../../infra/platform/health-checks.ts';
import { createMetrics } from '../../infra/platform/metrics.ts';
import { createOperatorAccess } from '../../infra/platform/operator-access.ts';
import { storesChecks } from '../../infra/platform/store-checks.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import type { RoleCheck } from '../../schemas/readiness-names.ts';
import { checkRoleNeeds } from '../config/role-needs.ts';
import { createControlServer } from './control-server.ts';
import { rolePages } from './health-server.ts';
import { openLoad } from './open-load.ts';
import { openOperatorPort } from './operator-port.ts';
import { runRole } from './role-process.ts';
import { openRoleLog, openRolePostgres, openRoleWarehouse } from './role-stores.ts';

await runRole('aggregator', async (context) => {
  const { config, closer, log } = context;
  checkRoleNeeds('aggregator', config);
  const role = { ...context, config };
  const metrics = createMetrics('aggregator');
  let isLoading = false;
  const checks: Partial<Record<RoleCheck, Check>> = {
    load: async () => (isLoading ? undefined : 'waits for its stores'),
  };
  const pages = rolePages({ metrics, checks, access: createOperatorAccess(config), log });
  const server = await createControlServer({ ...config, log, meanwhile: pages });
  closer.add('server', { drain: server.drain, close: server.close });
  await openOperatorPort(config, context, pages);

  const relational = await openRolePostgres(role);
  const { pool, url } = relational;
  const opened = await openRoleWarehouse(role, { waits: true });
  const { reader: logReader, deadLetters } = await openRoleLog(role, pool);
  // ClickHouse manages its own disk: it rejects what it cannot store, and the aggregator retries that.
  const openDisk = () => ({ isLow: () => false });
  const owner = randomUUID();
  const deps = { ...opened, relational, logReader, deadLetters, metrics, openDisk, owner };
  const load = openLoad(role, deps);
  closer.add('listener', createListener({ url, log }, { channels: load.channels }));
  Object.assign(checks, storesChecks({ pool, warehouse: opened.warehouse, logReader }));
  await load.start();
  isLoading = true;
  return { port: Number(new URL(server.url).port) };
});
