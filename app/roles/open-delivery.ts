import type { Registry } from 'prom-client';
import { createSend } from '../../delivery/send/send.ts';
import { type Delivery, startDelivery } from '../../delivery/start-delivery.ts';
import type { DerivedSecrets } from '../../domain/secrets.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import type { RoleContext } from './role-process.ts';

export interface OpenDeliveryDeps {
  postgresUrl: () => string;
  secrets: DerivedSecrets;
  metrics: Registry;
  /** One process's own at any time. */
  owner: string;
}

/** One for each of its loops that may hang by itself. */
const CONNECTIONS_MAX = 4;

/** Delivery as a part of a process, on connections of its own: it continues while readers hold all others. */
export function openDelivery({ config, closer, log: parent }: RoleContext, deps: OpenDeliveryDeps): Delivery {
  const { postgresUrl, secrets, metrics, owner } = deps;
  const log = parent.child({ component: 'delivery' });
  const pool = createPool({ url: postgresUrl, name: 'delivery', log, max: CONNECTIONS_MAX });
  closer.add('delivery pool', { close: () => pool.end() });
  const send = createSend({ log });
  closer.add('webhook connections', { close: () => send.close() });
  const { webhookTargets: privateTargets } = config;
  const { sealingKey } = secrets;
  const delivery = startDelivery(
    { pool, send, clock: systemClock, random: Math.random, log, metrics, sealingKey, privateTargets },
    { owner },
  );
  closer.add('delivery', { drain: () => delivery.close() });
  return delivery;
}
