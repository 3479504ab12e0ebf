import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../infra/platform/exit-code.ts';
import { Fatal } from '../../schemas/failures.ts';
import { type Env, readEnv, toConfig, type Variable } from './config.ts';

const SECRET = Buffer.alloc(32, 7).toString('base64');

function failureOf(env: Env): unknown {
  try {
    return toConfig(env);
  } catch (error) {
    return error;
  }
}

describe('toConfig', () => {
  it('has a default for everything', () => {
    expect(toConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      metricsHost: '127.0.0.1',
      dataDir: resolve('data'),
      logLevel: 'info',
      seedDemo: 'true',
      webhookTargets: 'loopback',
      warehouseRebuild: false,
      ingest: {
        inFlightBytesMax: 67_108_864,
        connectionsMax: 10_000,
        eventAgeMsMax: 400 * 86_400_000,
        eventAheadMsMax: 300_000,
      },
      log: { keepMs: 7 * 86_400_000, segmentBytesMax: 67_108_864 },
      storesWaitMs: 60_000,
      loadLingerMs: 500,
    });
  });

  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.8.8.8', 'loopback'],
    ['localhost', 'loopback'],
    ['::1', 'loopback'],
    ['0.0.0.0', 'none'],
    ['::', 'none'],
    ['10.0.0.1', 'none'],
    ['127.example.com', 'none'],
  ])(
    'on HOST %s webhooks may go to %s of what is not public, unless configured otherwise',
    (HOST, byDefault) => {
      const targets = (WEBHOOK_ALLOW_PRIVATE?: string) =>
        toConfig({ HOST, ...(WEBHOOK_ALLOW_PRIVATE ? { WEBHOOK_ALLOW_PRIVATE } : {}) }).webhookTargets;
      expect([targets(), targets('loopback')]).toEqual([byDefault, byDefault]);
      expect([targets('false'), targets('true')]).toEqual(['none', 'all']);
    },
  );

  it('takes the name of a cluster, and nothing that would be more in a statement', () => {
    const CLICKHOUSE_URL = 'http://h:8123';
    expect(toConfig({ CLICKHOUSE_URL, CLICKHOUSE_CLUSTER: 'usage-1' }).clickhouseCluster).toBe('usage-1');
    expect(failureOf({ CLICKHOUSE_URL, CLICKHOUSE_CLUSTER: 'c` --' })).toBeInstanceOf(Fatal);
    expect(failureOf({ CLICKHOUSE_CLUSTER: 'usage-1' })).toBeInstanceOf(Fatal);
  });

  it('takes servers for log and keys together only, and with the other two', () => {
    const KAFKA_BROKERS = 'localhost:9092';
    const others = { DATABASE_URL: 'postgres://h/d', CLICKHOUSE_URL: 'http://h:8123', SERVER_SECRET: SECRET };
    const all = { KAFKA_BROKERS, REDIS_URL: 'redis://localhost', ...others };
    expect(toConfig(all).distributed?.kafka.brokers).toEqual([KAFKA_BROKERS]);
    for (const name of ['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL'] as const) {
      expect(String(failureOf({ ...all, [name]: undefined }))).toContain(`${name} has to be set`);
    }
  });

  it.each<[Variable, string]>([
    ['HOST', 'not a host'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '8e3'],
    ['LOG_LEVEL', 'loud'],
    ['SEED_DEMO', 'no'],
    ['SEED_DEMO', 'data'],
    ['WEBHOOK_ALLOW_PRIVATE', '1'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['CONTROL_PLANE_URL', 'control-plane:8080'],
    ['STORES_WAIT_SECONDS', '3601'],
    ['DATABASE_URL', 'localhost:5432'],
    ['CLICKHOUSE_URL', 'tcp://localhost:9000'],
    ['SERVER_SECRET', 'c2hvcnQ='],
    ['SERVER_SECRET', `${SECRET}x`],
    ['DISK_FREE_BYTES_MIN', '1 GiB'],
    ['INFLIGHT_BYTES_MAX', '1'],
    ['EVENT_AGE_DAYS_MAX', '0'],
    ['EVENT_AHEAD_MINUTES_MAX', '5.5'],
    ['LOG_RETENTION_DAYS', '0.5'],
    ['LOG_SEGMENT_BYTES', '1000'],
    ['EVENTS_RETENTION_DAYS', '0'],
    ['EVENTS_RETENTION_DAYS', '18251'],
    ['LOAD_LINGER_MS', '99999'],
    ['RATE_LIMIT_PER_SECOND', '0'],
    ['RATE_LIMIT_PER_SECOND', '1.5'],
    ['RATE_LIMIT_BURST', '10'],
    ['METRICS_PORT', '0'],
    ['METRICS_PORT', '8080'],
    ['METRICS_HOST', 'metrics.example'],
    ['METRICS_TOKEN', 'short-secret'],
    ['METRICS_TOKEN', 'a secret with spaces in it'],
  ])('rejects %s=%s, with exit code 2, naming it and not what it holds', (name, text) => {
    const failure = failureOf({
      [name]: text,
      ...(name === 'DATABASE_URL' ? { SERVER_SECRET: SECRET } : {}),
    });
    expect(failure).toBeInstanceOf(Fatal);
    expect(failure).toMatchObject({ code: 'bad_configuration' });
    expect(String(failure)).toMatch(new RegExp(`configuration: ${name} [^;]*$`));
    if (text.length > 2) expect(String(failure)).not.toContain(text);
    expect(exitCodeOf(failure)).toBe(2);
  });

  it('rejects a METRICS_HOST that is no address, also with a METRICS_PORT', () => {
    const failure = failureOf({ METRICS_PORT: '9090', METRICS_HOST: 'http://[metrics' });
    expect(String(failure)).toMatch(/configuration: METRICS_HOST [^;]*$/);
  });

  // Red when the check is left out: an event that is taken today would be deleted today.
  it('keeps events longer than the oldest that is taken', () => {
    const kept = (env: Env) => toConfig(env).eventsRetentionDays;
    expect(kept({})).toBeUndefined();
    expect(kept({ EVENTS_RETENTION_DAYS: '432' })).toBe(432);
    expect(kept({ EVENTS_RETENTION_DAYS: '18250' })).toBe(18_250);
    expect(String(failureOf({ EVENTS_RETENTION_DAYS: '431' }))).toContain('EVENTS_RETENTION_DAYS');
    expect(kept({ EVENTS_RETENTION_DAYS: '62', EVENT_AGE_DAYS_MAX: '30' })).toBe(62);
    expect(String(failureOf({ EVENTS_RETENTION_DAYS: '61', EVENT_AGE_DAYS_MAX: '30' }))).toContain(
      'at least 62',
    );
  });

  it('limits no key unless a rate is given, whose burst is a second of it', () => {
    const limit = (env: Env) => toConfig(env).rateLimit;
    expect(limit({})).toBeUndefined();
    expect(limit({ RATE_LIMIT_PER_SECOND: '20' })).toEqual({ perSecond: 20, burst: 20 });
    expect(limit({ RATE_LIMIT_PER_SECOND: '20', RATE_LIMIT_BURST: '5' })).toEqual({
      perSecond: 20,
      burst: 5,
    });
  });

  it('names every faulty variable in one message', () => {
    const message = String(failureOf({ PORT: 'x', SEED_DEMO: 'x', DATABASE_URL: 'x', LOG_LEVEL: 'x' }));
    for (const name of ['PORT', 'SEED_DEMO', 'DATABASE_URL', 'LOG_LEVEL']) expect(message).toContain(name);
  });

  it('wants a secret of the operator where the database is the operator`s', () => {
    const DATABASE_URL = 'postgres://u:canary@db/metergate';
    const failure = failureOf({ DATABASE_URL });
    expect(String(failure)).toContain('SERVER_SECRET');
    expect(String(failure)).not.toContain('canary');
    expect(toConfig({ DATABASE_URL, SERVER_SECRET: SECRET })).toMatchObject({
      databaseUrl: DATABASE_URL,
      serverSecret: SECRET,
    });
  });
});

describe('readEnv', () => {
  it('takes the known variables alone, and an empty one as left out', () => {
    expect(readEnv({ PORT: ' 9000 ', HOST: '', PATH: '/bin' })).toEqual({ PORT: '9000' });
  });
});

describe('traces', () => {
  it('go nowhere unless an endpoint is named', () => {
    expect(toConfig({ OTEL_SERVICE_NAME: 'mine' })).not.toHaveProperty('tracing');
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/';
    expect(toConfig({ OTEL_EXPORTER_OTLP_ENDPOINT }).tracing).toEqual({
      url: 'http://collector:4318/v1/traces',
      headers: {},
      serviceName: 'metergate',
    });
    const OTEL_EXPORTER_OTLP_HEADERS = 'Authorization=Basic%20abc, x-tenant=a';
    expect(toConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS }).tracing?.headers).toEqual({
      authorization: 'Basic abc',
      'x-tenant': 'a',
    });
    for (const headers of ['nothing', 'a b=c', 'a=%zz']) {
      const failure = failureOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: headers });
      expect(String(failure)).toContain('OTEL_EXPORTER_OTLP_HEADERS');
    }
  });
});
