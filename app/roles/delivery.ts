/** Delivery as a process of its own, one of any number: `npm run delivery`. */
import { randomUUID } from 'node:crypto';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import type { Check } from '../../infra/platform/health-checks.ts';
import { createMetrics } from '../../infra/platform/metrics.ts';
import { createOperatorAccess } from '../../infra/platform/operator-access.ts';
import { storesChecks } from '../../infra/platform/store-checks.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import type { RoleCheck } from '../../schemas/readiness-names.ts';
import { checkRoleNeeds } from '../config/role-needs.ts';
import { openSecrets } from '../prepare-installation.ts';
import { createControlServer } from './control-server.ts';
import { rolePages } from './health-server.ts';
import { openDelivery } from './open-delivery.ts';
import { openOperatorPort } from './operator-port.ts';
import { runRole } from './role-process.ts';
import { openRolePostgres } from './role-stores.ts';

await runRole('delivery', async (context) => {
  const { config, closer, log } = context;
  checkRoleNeeds('delivery', config);
  const metrics = createMetrics('delivery');
  let isSending = false;
  const checks: Partial<Record<RoleCheck, Check>> = {
    delivery: async () => (isSending ? undefined : 'waits for Postgres'),
  };
  const pages = rolePages({ metrics, checks, access: createOperatorAccess(config), log });
  const server = await createControlServer({ ...config, log, meanwhile: pages });
  closer.add('server', { drain: server.drain, close: server.close });
  await openOperatorPort(config, context, pages);

  const { pool, url: postgresUrl } = await openRolePostgres({ ...context, config });
  const secrets = await openSecrets({ config, paths: dataDirAt(config.dataDir), pool });
  const delivery = openDelivery(context, { postgresUrl, secrets, metrics, owner: randomUUID() });
  const { channels, look } = delivery;
  closer.add('listener', createListener({ url: postgresUrl, log }, { channels, onSession: look }));
  Object.assign(checks, storesChecks({ pool }));
  isSending = true;
  return { port: Number(new URL(server.url).port) };
});
