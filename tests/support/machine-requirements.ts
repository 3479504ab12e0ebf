import { spawnSync } from 'node:child_process';
import { hasKafkaJars } from '../servers/kafka-jars.ts';
import { hasRedisServer } from '../servers/native-redis.ts';
import { canStartKafka } from '../servers/start-kafka.ts';
import { canStartRedis } from '../servers/start-redis.ts';
import { mayMount } from './small-disk.ts';
import { hasStrace, mayAttach } from './system-calls.ts';

/** What tests need of the machine and does not come with the packages. */
const MEANS = {
  linux: { isThere: () => process.platform === 'linux', named: 'Linux, whose /proc lists processes' },
  tracing: { isThere: hasStrace, named: 'strace, and the right to trace (Debian: apt-get install strace)' },
  attaching: {
    isThere: mayAttach,
    named: 'strace, and the right to attach it to a process that runs (root, or kernel.yama.ptrace_scope=0)',
  },
  mounting: { isThere: mayMount, named: 'mkfs.ext4, and the right to mount a small file system (root)' },
  tar: { isThere: hasTar, named: 'tar' },
  nginx: { isThere: () => starts('nginx', '-v'), named: 'nginx (Debian: apt-get install nginx)' },
  caddy: { isThere: () => starts('caddy', 'version'), named: 'Caddy (Debian: apt-get install caddy)' },
  promtool: {
    isThere: () => starts('promtool', '--version'),
    named: 'promtool (Debian: apt-get install prometheus)',
  },
  systemd: {
    isThere: () => starts('systemd-analyze', '--version'),
    named: 'systemd-analyze (Debian: apt-get install systemd)',
  },
  chromium: {
    isThere: () => starts(process.env.CHROMIUM ?? '/usr/bin/chromium', '--version'),
    named: 'Chromium (Debian: apt-get install chromium; elsewhere CHROMIUM names its program)',
  },
  broker: {
    isThere: () => isGiven('TEST_KAFKA_BROKERS') || canStartKafka(),
    named: 'a Kafka broker: TEST_KAFKA_BROKERS, or Docker, or Java and Maven',
  },
  keyStore: {
    isThere: () => isGiven('TEST_REDIS_URL') || canStartRedis(),
    named: 'a key store: TEST_REDIS_URL, or Docker, or redis-server (Debian: apt-get install redis-server)',
  },
  nativeServers: {
    isThere: () => hasKafkaJars() && hasRedisServer(),
    named: 'Java, Maven and redis-server, for servers with certificates (Docker does not do)',
  },
  ownServers: {
    isThere: () => canStartKafka() && canStartRedis(),
    named: 'servers it may kill: Docker, or Java, Maven and redis-server',
  },
};

export type Means = keyof typeof MEANS;

/** In words, what this machine lacks of that; undefined when nothing. */
export function lacking(...means: Means[]): string | undefined {
  const missing = means.filter((one) => !isThere(one)).map((one) => MEANS[one].named);
  return missing.length > 0 ? `it needs ${missing.join('; ')}` : undefined;
}

const known = new Map<Means, boolean>();

function isThere(one: Means): boolean {
  const response = known.get(one) ?? MEANS[one].isThere();
  known.set(one, response);
  return response;
}

function isGiven(variable: string): boolean {
  return (process.env[variable] ?? '') !== '';
}

export function hasTar(): boolean {
  return starts('tar', '--version');
}

function starts(command: string, argument: string): boolean {
  return spawnSync(command, [argument]).status === 0;
}

export interface NeedyTests {
  /** Of test files, from the root. */
  pattern: string;
  /** What they show. */
  what: string;
  means: Means[];
}

const POWER = 'tests/faults/crash-consistency';
const UPGRADE = 'tests/faults/upgrade';

/** A file needs all of its means: none has tests for a machine without them. */
export const NEEDY_TESTS: readonly NeedyTests[] = [
  {
    pattern: '{tests,bench}/**/*.{sys,timed,whole,whole-timed}.test.ts',
    what: 'whole Metergates under attack',
    means: ['linux'],
  },
  { pattern: 'app/main-job.whole.test.ts', what: 'the main job of whole processes', means: ['linux'] },
  {
    pattern: `${POWER}/power-cut.sys.test.ts`,
    what: 'the order of flush and response, and power cuts',
    means: ['tracing'],
  },
  { pattern: `${POWER}/write-errors.whole.test.ts`, what: 'a disk that fails', means: ['attaching'] },
  { pattern: `${POWER}/hanging-disk.whole.test.ts`, what: 'a disk that hangs', means: ['attaching'] },
  { pattern: `${POWER}/disk.sys.test.ts`, what: 'a disk that is full', means: ['mounting'] },
  { pattern: 'tests/clients/*-disk.test.ts', what: 'a spool whose disk is full', means: ['mounting'] },
  { pattern: `${UPGRADE}/upgrade.whole.test.ts`, what: 'data of the release before', means: ['tar'] },
  { pattern: `${UPGRADE}/rejected-data.sys.test.ts`, what: 'data that is rejected', means: ['tar'] },
  { pattern: 'tests/proxies/nginx-sample.test.ts', what: 'the sample for nginx', means: ['nginx'] },
  { pattern: 'tests/proxies/caddy-sample.test.ts', what: 'the sample for Caddy', means: ['caddy'] },
  { pattern: 'tests/operate/alert-rules.test.ts', what: 'the alert rules', means: ['promtool'] },
  { pattern: 'tests/operate/systemd-unit.test.ts', what: 'the systemd unit', means: ['systemd'] },
  { pattern: 'tests/browser/*.test.ts', what: 'the console in a browser', means: ['chromium'] },
  {
    pattern: 'tests/servers/servers.distributed-store.test.ts',
    what: 'servers for tests',
    means: ['ownServers'],
  },
  { pattern: 'infra/kafka/**/*.distributed-store.test.ts', what: 'the log on Kafka', means: ['broker'] },
  { pattern: 'infra/valkey/**/*.distributed-store.test.ts', what: 'the keys on Valkey', means: ['keyStore'] },
  {
    pattern: 'app/roles/stores.distributed-sys.test.ts',
    what: 'roles and servers with TLS and logins',
    means: ['linux', 'nativeServers'],
  },
  { pattern: '**/*.distributed-{store,sys}.test.ts', what: 'more than one machine', means: ['ownServers'] },
];

/** Files that vitest skips here, and the notice that it prints of them. */
export function testsNotRunHere(): Array<{ pattern: string; why: string }> {
  return NEEDY_TESTS.flatMap(({ pattern, what, means }) => {
    const lack = lacking(...means);
    return lack === undefined ? [] : [{ pattern, why: `${what}: ${lack}` }];
  });
}
