/** Opens the stores of a role that runs as a process of its own: all are servers, and each is waited for. */

import type { Pool } from 'pg';
import { type KafkaLog, openKafkaLog } from '../../infra/kafka/kafka-log.ts';
import { addressOf, waitUntilAvailable } from '../../infra/platform/wait-until-available.ts';
import { migratePostgres } from '../../infra/postgres/migrate.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import type { DistributedConfig } from '../config/role-needs.ts';
import { type OpenedWarehouse, openWarehouse } from './open-warehouse.ts';
import type { Relational } from './relational.ts';
import type { RoleContext } from './role-process.ts';

const POOL_CONNECTIONS_MAX = 20;
const QUESTION_TIMEOUT_MS = 5_000;

export interface DistributedContext extends RoleContext {
  config: DistributedConfig;
}

/** Brought up to this release. */
export async function openRolePostgres({ config, closer, log }: DistributedContext): Promise<Relational> {
  const { databaseUrl: url, storesWaitMs: waitMs } = config;
  const store = { variable: 'DATABASE_URL', address: addressOf(url) };
  await waitUntilAvailable(store, () => migratePostgres(url), { waitMs, log });
  const pool = createPool({ url, name: 'control', log, max: POOL_CONNECTIONS_MAX });
  closer.add('pool', { close: () => pool.end() });
  return { pool, url: () => url };
}

/**
 * The warehouse as it is: the load migrates it. Without `waits` it is returned at once, for a role that has
 * other work than what needs it: then only a server that rejects this process ends the process.
 */
export async function openRoleWarehouse(
  context: DistributedContext,
  { waits }: { waits: boolean },
): Promise<OpenedWarehouse> {
  const { clickhouseUrl, storesWaitMs: waitMs } = context.config;
  const opened = await openWarehouse(context, '');
  const store = { variable: 'CLICKHOUSE_URL', address: addressOf(clickhouseUrl) };
  const query = () =>
    opened.warehouse.query({ sql: 'SELECT 1 AS one', connection: 'load', timeoutMs: QUESTION_TIMEOUT_MS });
  const { log, fail } = context;
  const reached = waitUntilAvailable(store, query, {
    waitMs: waits ? waitMs : Number.POSITIVE_INFINITY,
    log,
  });
  if (waits) await reached;
  else reached.catch(fail);
  return opened;
}

export async function openRoleLog(
  { config, closer, log }: DistributedContext,
  pool: Pool,
): Promise<KafkaLog> {
  const { distributed, storesWaitMs: waitMs } = config;
  const { kafka: settings } = distributed;
  const store = { variable: 'KAFKA_BROKERS', address: settings.brokers.join(',') };
  const kafka = await waitUntilAvailable(store, () => openKafkaLog({ settings, pool, log }), { waitMs, log });
  closer.add('log', { close: () => kafka.close() });
  return kafka;
}
