import { expect, it } from 'vitest';
import { endOfRole } from './role-under-test.ts';

/*
 * What a role as a process of its own prints for a configuration with which it cannot work: one sentence that
 * names the variable and shows no secret, and exit code 2. Those of Kafka and Valkey: their store tests.
 */
const ROLES = ['ingest', 'aggregator', 'control-plane', 'delivery'];
const NO_SERVER = '127.0.0.1:9';

const ALL = {
  KAFKA_BROKERS: NO_SERVER,
  REDIS_URL: `redis://${NO_SERVER}`,
  DATABASE_URL: `postgres://user:hidden@${NO_SERVER}/metergate`,
  CLICKHOUSE_URL: `http://${NO_SERVER}`,
  CONTROL_PLANE_URL: `http://${NO_SERVER}`,
  SERVER_SECRET: Buffer.alloc(32, 1).toString('base64'),
  STORES_WAIT_SECONDS: '1',
  LOG_LEVEL: 'fatal',
};

it.each(ROLES)('%s alone, without the servers it needs, names them all and ends with 2', async (role) => {
  const { exitCode, output } = await endOfRole(role, {});
  expect(exitCode).toBe(2);
  expect(output).toContain(`${role} as a process of its own needs`);
  expect(output).toContain('DATABASE_URL');
  expect(output.trim().split('\n')).toHaveLength(1);
});

it.each(ROLES)('%s gives up a Postgres that does not respond and ends with 2', async (role) => {
  const { exitCode, output } = await endOfRole(role, ALL);
  expect(output).toContain(`DATABASE_URL: no server responded at postgres://${NO_SERVER} for 1 s.`);
  expect(output).not.toContain('hidden');
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(exitCode).toBe(2);
});

it('a name that is no host is rejected at once', async () => {
  const environment = {
    ...ALL,
    DATABASE_URL: 'postgres://no-such-host.invalid/x',
    STORES_WAIT_SECONDS: '3600',
  };
  const { exitCode, output } = await endOfRole('delivery', environment);
  expect(output).toContain('DATABASE_URL: postgres://no-such-host.invalid is the name of no host.');
  expect(exitCode).toBe(2);
});

it('a control plane cannot be had without the half of its servers', async () => {
  const { REDIS_URL: _, ...without } = ALL;
  const { exitCode, output } = await endOfRole('control-plane', without);
  expect(output).toContain('REDIS_URL has to be set where KAFKA_BROKERS is');
  expect(exitCode).toBe(2);
});
