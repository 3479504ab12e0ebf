import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../infra/postgres/embedded.ts';
import { startChdbHttpServer } from '../../tests/servers/chdb-http-server.ts';
import { startNativeKafka } from '../../tests/servers/native-kafka.ts';
import { startNativeRedis } from '../../tests/servers/native-redis.ts';
import { quietPort } from '../../tests/support/quiet-port.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { queryOnce } from '../../tests/support/with-client.ts';
import { LOCAL_CERTIFICATE, LOCAL_CERTIFICATE_KEY } from './certificate-under-test.ts';

/** The four servers, each of which accepts clients with the password, over TLS. */
export interface SecureStores {
  /** The configuration that a role needs for them, `CONTROL_PLANE_URL` apart. */
  environment: Record<string, string>;
  /** The same broker, without a login and TLS. */
  plainBrokers: string;
  /** Its password and its key, which no role may print. */
  secrets: string[];
  close(): Promise<void>;
}

const TLS = { certificate: LOCAL_CERTIFICATE, key: LOCAL_CERTIFICATE_KEY };
const USER = 'metergate';

export async function startSecureStores(): Promise<SecureStores> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-secure-'));
  // The account of Postgres has to pass through.
  chmodSync(folder, 0o711);
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, LOCAL_CERTIFICATE);
  const password = randomBytes(8).toString('hex');
  const login = { username: USER, password };
  const [kafka, redis, postgres, clickhouse] = await Promise.all([
    startNativeKafka({ login, tls: TLS }),
    startRedis(folder, login),
    startPostgres(folder),
    startChdbHttpServer(join(folder, 'warehouse'), { tls: TLS, login }),
  ]);
  const serverSecret = randomBytes(32).toString('base64');
  return {
    environment: {
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: withLogin(clickhouse.url, login),
      REDIS_URL: redis.url,
      KAFKA_BROKERS: kafka.url,
      KAFKA_TLS: 'true',
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: USER,
      KAFKA_SASL_PASSWORD: password,
      KAFKA_PARTITIONS: '2',
      KAFKA_REPLICATION: '1',
      KAFKA_MIN_ISR: '1',
      SERVER_SECRET: serverSecret,
      NODE_EXTRA_CA_CERTS: authority,
      LOG_LEVEL: 'fatal',
    },
    plainBrokers: kafka.plainUrl,
    secrets: [password, postgres.password, serverSecret],
    async close() {
      await Promise.allSettled([kafka.stop(), redis.stop(), postgres.stop(), clickhouse.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Login {
  username: string;
  password: string;
}

function withLogin(address: string, { username, password }: Login): string {
  const url = new URL(address);
  Object.assign(url, { username, password });
  return url.href;
}

async function startRedis(folder: string, login: Login) {
  const [certificate, key] = [join(folder, 'redis.pem'), join(folder, 'redis-key.pem')];
  writeFileSync(certificate, TLS.certificate);
  writeFileSync(key, TLS.key);
  const port = String(await quietPort());
  const settings = {
    'tls-port': port,
    'tls-cert-file': certificate,
    'tls-key-file': key,
    'tls-ca-cert-file': certificate,
    'tls-auth-clients': 'no',
  };
  const server = await startNativeRedis({ login, settings });
  return { url: `rediss://:${login.password}@127.0.0.1:${port}`, stop: server.stop };
}

/** TLS can be had without another start; the server reads a key only where it is its account's alone. */
async function startPostgres(folder: string) {
  const directory = join(folder, 'postgres');
  const server = await startEmbeddedPostgres({ directory, log: SILENT });
  const { uid, gid } = statSync(directory);
  for (const [name, pem] of [['tls.pem', TLS.certificate] as const, ['tls-key.pem', TLS.key] as const]) {
    const file = join(directory, name);
    writeFileSync(file, pem, { mode: 0o600 });
    chownSync(file, uid, gid);
  }
  for (const [name, value] of [
    ['ssl_cert_file', 'tls.pem'],
    ['ssl_key_file', 'tls-key.pem'],
    ['ssl', 'on'],
  ]) {
    await queryOnce(server.url, `ALTER SYSTEM SET ${name} = '${value}'`);
  }
  await queryOnce(server.url, 'SELECT pg_reload_conf()');
  const url = new URL(server.url);
  url.searchParams.set('sslmode', 'verify-full');
  return { url: url.href, password: url.password, stop: () => server.stop() };
}
