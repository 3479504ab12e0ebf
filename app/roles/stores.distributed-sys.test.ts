import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listenUntil } from '../../tests/support/listen.ts';
import { ofThisFile } from '../../tests/support/of-this-file.ts';
import { ALL_IN_ONE, endOfRole, readyRole } from './role-under-test.ts';
import { startSecureStores } from './secure-stores-under-test.ts';

/*
 * Roles as processes of their own, with servers that accept only clients with a login over TLS: that the
 * roles work with them, and what they report when they cannot.
 */
const stores = await ofThisFile(startSecureStores(), ({ close }) => close());

it('an event comes by ingest, broker and aggregator to its counter, all of it over TLS', async () => {
  const { environment } = stores;
  const controlPlane = await readyRole('control-plane', environment);
  const own = { ...environment, CONTROL_PLANE_URL: controlPlane };
  const [ingest] = await Promise.all([
    readyRole('ingest', own),
    readyRole('aggregator', own),
    readyRole('delivery', own),
  ]);
  await countOne(ingest, await makeKey(own));
});

it('npm start runs one of each role on the configured servers', async () => {
  const environment = { ...stores.environment, KAFKA_TOPIC: 'of-one-machine' };
  await countOne(await readyRole(ALL_IN_ONE, environment), await makeKey(environment));
});

it.each([
  ['delivery', 'DATABASE_URL', 'rejects the user or the password'],
  ['aggregator', 'CLICKHOUSE_URL', 'rejects the user or the password'],
  ['ingest', 'REDIS_URL', 'is rejected'],
])('%s reports a wrong password in %s: %s', async (role, variable, output) => {
  const url = new URL(stores.environment[variable] ?? '');
  url.password = 'wrong-secret';
  await rejected(role, { [variable]: url.href }, new RegExp(`${variable}.* ${output}`));
});

it.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
  'a wrong password for Kafka by %s',
  async (mechanism) => {
    const given = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_PASSWORD: 'wrong-secret' };
    await rejected('aggregator', given, /KAFKA_BROKERS: .* rejects the user or the password/);
  },
);

it('a login by PLAIN and by SCRAM-SHA-256 over TLS is taken', async () => {
  for (const KAFKA_SASL_MECHANISM of ['plain', 'scram-sha-256']) {
    await readyRole('control-plane', { ...stores.environment, KAFKA_SASL_MECHANISM });
  }
});

it('a certificate authority that is not configured is reported for each store', async () => {
  const { NODE_EXTRA_CA_CERTS: _, ...without } = stores.environment;
  const trusting = { DATABASE_URL: withoutTls() };
  await rejected('delivery', {}, /DATABASE_URL.*certificate.*NODE_EXTRA_CA_CERTS/, without);
  await rejected('aggregator', trusting, /CLICKHOUSE_URL.*certificate.*NODE_EXTRA_CA_CERTS/, without);
  await rejected('ingest', trusting, /KAFKA_BROKERS.*certificate.*NODE_EXTRA_CA_CERTS/, without);
  const { KAFKA_SASL_MECHANISM: _m, KAFKA_SASL_USERNAME: _u, KAFKA_SASL_PASSWORD: _p, ...open } = without;
  const plain = { ...trusting, KAFKA_BROKERS: stores.plainBrokers, KAFKA_TLS: 'false' };
  await rejected('ingest', plain, /REDIS_URL.*certificate.*NODE_EXTRA_CA_CERTS/, open);
});

it('a broker that wants TLS, and one that has none', async () => {
  await rejected('control-plane', { KAFKA_TLS: 'false' }, /KAFKA_BROKERS.*no server responded.*TLS/);
  const plain = await server((socket) =>
    socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  );
  await rejected('control-plane', { KAFKA_BROKERS: plain }, /KAFKA_BROKERS: .* does not speak TLS/);
});

it('a broker that is unavailable is waited for, and then named', async () => {
  for (const role of ['control-plane', 'ingest']) {
    await rejected(
      role,
      { KAFKA_BROKERS: '127.0.0.1:9' },
      /KAFKA_BROKERS: no server responded at 127.0.0.1:9 for 1 s/,
    );
  }
});

it('a topic that is missing where none may be made', async () => {
  const given = { KAFKA_TOPIC: 'not-there', KAFKA_AUTO_CREATE: 'false' };
  await rejected('aggregator', given, /topic not-there is missing/);
});

it('more copies than there are brokers', async () => {
  const given = { KAFKA_TOPIC: 'new', KAFKA_REPLICATION: '3', KAFKA_MIN_ISR: '2' };
  await rejected('aggregator', given, /KAFKA_REPLICATION 3/);
});

async function rejected(
  role: string,
  given: Record<string, string>,
  message: RegExp,
  environment = stores.environment,
): Promise<void> {
  const all = { CONTROL_PLANE_URL: 'http://127.0.0.1:9', STORES_WAIT_SECONDS: '1', ...environment, ...given };
  const { exitCode, output } = await endOfRole(role, all);
  expect(output).toMatch(message);
  expect(output.trim().split('\n')).toHaveLength(1);
  for (const secret of [...stores.secrets, 'wrong-secret']) expect(output).not.toContain(secret);
  expect(exitCode).toBe(2);
}

function withoutTls(): string {
  const url = new URL(stores.environment.DATABASE_URL ?? '');
  url.searchParams.set('sslmode', 'disable');
  return url.href;
}

async function server(onSocket: Parameters<typeof createServer>[1]): Promise<string> {
  const one = createServer(onSocket).on('error', () => undefined);
  return `127.0.0.1:${(await listenUntil(onTestFinished, one)).port}`;
}

async function makeKey(environment: Record<string, string>): Promise<string> {
  const program = join('dist', 'app', 'admin', 'admin-command.js');
  const args = [program, 'workspace', 'create', '--name', 'Acme', '--json'];
  const { PATH = '' } = process.env;
  const output = execFileSync(process.execPath, args, { env: { PATH, ...environment }, encoding: 'utf8' });
  return JSON.parse(output).live.secret;
}

async function countOne(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const post = async (path: string, body: object) =>
    await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect((await post('customers', { name: 'A', email: 'a@a.example', externalId: 'acme' })).status).toBe(201);
  expect((await post('meters', { key: 'calls', name: 'Calls', aggregation: 'sum' })).status).toBe(201);
  const event = { idempotencyKey: '1', customerId: 'acme', meterId: 'calls', value: 2.5 };
  expect((await post('usage/events/batch', { events: [event] })).status).toBe(200);
  const read = await fetch(`${url}/api/v1/usage/acme/calls?consistency=strong`, { headers });
  expect(await read.json()).toMatchObject({ current: 2.5 });
}
