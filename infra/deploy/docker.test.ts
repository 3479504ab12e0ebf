import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Env, readEnv, toConfig, VARIABLES } from '../../app/config/config.ts';
import { checkRoleNeeds, type Role } from '../../app/config/role-needs.ts';

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  healthcheck?: { test: string[]; interval: string; timeout: string; retries: number };
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
}

interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

/** What the file requires of the operator. */
const GIVEN: Record<string, string> = {
  SERVER_SECRET: Buffer.alloc(32, 1).toString('base64'),
  STORES_PASSWORD: 'abc123',
};

function readCompose(): Compose {
  const text = readFileSync('infra/docker-compose.yml', 'utf8').replaceAll(
    /\$\{(\w+)[^}]*\}/g,
    (whole, name) => {
      return GIVEN[name as string] ?? whole;
    },
  );
  return parse(text, { merge: true }) as Compose;
}

const compose = readCompose();
const services = Object.entries(compose.services);
const roles = services.filter(([, { build }]) => build !== undefined);

describe('the compose file', () => {
  it('starts each role from one image, by its name', () => {
    const names = roles.map(([name]) => name).sort();
    expect(names).toEqual(['aggregator', 'control-plane', 'delivery', 'ingest']);
    for (const [name, { command, build }] of roles) {
      expect(command).toEqual([name]);
      expect(build).toEqual({ context: '..', dockerfile: 'infra/deploy/Dockerfile' });
    }
  });

  it.each(roles)(
    '%s is given nothing but what the configuration knows, and all that it needs',
    (name, service) => {
      const environment = service.environment ?? {};
      const known = new Set<string>(VARIABLES);
      expect(Object.keys(environment).filter((one) => !known.has(one))).toEqual([]);
      expect(Object.values(environment).filter((text) => text.includes('${'))).toEqual([]);
      const config = toConfig(readEnv(environment) as Env);
      expect(() => checkRoleNeeds(name as Role, config)).not.toThrow();
    },
  );

  it.each(services)('%s has a pinned image, a check of its health, and is started again', (_, service) => {
    expect(service.image).toMatch(/^[\w./-]+:\d+(\.\d+)+$/);
    expect(service.healthcheck).toMatchObject({ retries: expect.any(Number), timeout: expect.any(String) });
    expect(service.healthcheck?.test.length).toBeGreaterThan(1);
    expect(service.restart).toBe('unless-stopped');
  });

  it('every server keeps its data in a volume, and every role waits for all of them', () => {
    const servers = services.filter(([, { build }]) => build === undefined);
    for (const [name, { volumes = [] }] of servers)
      expect(volumes.map((one) => one.split(':')[0])).toEqual([name]);
    expect(Object.keys(compose.volumes).sort()).toEqual(servers.map(([name]) => name).sort());
    for (const [, service] of roles) {
      const { depends_on: waited = {} } = service;
      expect(Object.keys(waited).sort()).toEqual(Object.keys(compose.volumes).sort());
      expect(Object.values(waited).every(({ condition }) => condition === 'service_healthy')).toBe(true);
    }
  });
});

// Red with its default of 100: two of each role ask for up to 184.
it('Postgres of the compose file takes two of each role, and is not ready before it is made', () => {
  const { command = [], healthcheck } = compose.services.postgres ?? {};
  const most = Number(/max_connections=(\d+)/.exec(command.join(' '))?.[1]);
  expect(most).toBeGreaterThan(2 * (25 + 2 * 8 + 25 + 21 + 5));
  // The server that makes the database for the first time listens on a socket alone.
  expect(healthcheck?.test).toContain('127.0.0.1');
});

describe('the image', () => {
  const lines = readFileSync('infra/deploy/Dockerfile', 'utf8').split('\n');

  it('is built on pinned images, in stages, and runs without root under an init with a health check', () => {
    const from = lines.filter((line) => line.startsWith('FROM '));
    expect(from.length).toBeGreaterThan(1);
    expect(from.filter((line) => !/^FROM [\w./-]+:\d+\.\d+\.\d+[\w.-]*( AS \w+)?$/.test(line))).toEqual([]);
    expect(lines).toContain('USER node');
    expect(lines.find((line) => line.startsWith('ENTRYPOINT'))).toContain('"tini"');
    expect(lines.some((line) => line.startsWith('HEALTHCHECK'))).toBe(true);
  });

  it('starts by its word whatever is there to be started', () => {
    const entry = readFileSync('infra/deploy/docker-entrypoint.sh', 'utf8');
    const programs = [...entry.matchAll(/dist\/([\w/$-]+)\.js/g)].map(([, path = '']) => path);
    const modules = programs.flatMap((path) =>
      path.includes('$role')
        ? ['aggregator', 'control-plane', 'delivery'].map((role) => path.replace('$role', role))
        : [path],
    );
    expect(modules.length).toBeGreaterThan(6);
    expect(modules.filter((path) => !existsSync(`${path}.ts`))).toEqual([]);
    for (const word of [...roles.map(([name]) => name), 'audit', 'admin', 'health', 'ready']) {
      expect(entry).toMatch(new RegExp(`^ +(.* \\| )?${word}( \\| .*)?\\) exec `, 'm'));
    }
  });

  // Red when optional packages are left out, among them the compiler of the platform, or when a script that
  // installs something needs tools that the slim image lacks.
  it('is built with what the build calls, and keeps nothing that a script has to install', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, Partial<Record<'dev' | 'optional' | 'hasInstallScript', boolean>>>;
    };
    const calledBy = [
      'node_modules/assemblyscript',
      'node_modules/@typescript/typescript-linux-x64',
      'node_modules/@esbuild/linux-x64',
      'node_modules/preact',
    ];
    const called = calledBy.map((path) => packages[path]);
    const install = lines.find((line) => line.startsWith('RUN npm install')) ?? '';
    expect(called.every((one) => one && !one.dev)).toBe(true);
    expect(install).toContain('--omit=dev --include=optional');
    expect(install).toContain('--ignore-scripts');
    const scripted = Object.entries(packages).filter(([, one]) => one.hasInstallScript && !one.dev);
    const kept = scripted.filter(([, one]) => !one.optional).map(([path]) => path);
    // The first shows its maker the installation; the second is removed; the third only tries its binary out.
    const known = ['node_modules/@scarf/scarf', 'node_modules/chdb', 'node_modules/esbuild'];
    expect(kept.sort()).toEqual(known);
    expect(lines.some((line) => line.includes('rm -rf node_modules/chdb'))).toBe(true);
  });

  it('copies what is there', () => {
    const copied = lines.flatMap((line) => /^COPY (?!--from)(.+) \S+$/.exec(line)?.[1]?.split(' ') ?? []);
    expect(copied.filter((path) => !existsSync(path))).toEqual([]);
  });
});
