import { Fatal } from '../../schemas/failures.ts';
import type { Config } from './config.ts';

/** What a process of its own needs in its configuration, since it has nothing embedded. */
const NEEDS = {
  KAFKA_BROKERS: ({ distributed }: Config) => distributed !== undefined,
  DATABASE_URL: ({ databaseUrl }: Config) => databaseUrl !== undefined,
  CLICKHOUSE_URL: ({ clickhouseUrl }: Config) => clickhouseUrl !== undefined,
  CONTROL_PLANE_URL: ({ controlPlaneUrl }: Config) => controlPlaneUrl !== undefined,
} as const;

const STORES = ['KAFKA_BROKERS', 'DATABASE_URL', 'CLICKHOUSE_URL'] as const;

/** By role. KAFKA_BROKERS and REDIS_URL are only ever set together, and SERVER_SECRET with DATABASE_URL. */
const OF_ROLE = {
  ingest: [...STORES, 'CONTROL_PLANE_URL'],
  aggregator: STORES,
  'control-plane': STORES,
  delivery: ['DATABASE_URL'],
} as const satisfies Record<string, readonly (keyof typeof NEEDS)[]>;

export type Role = keyof typeof OF_ROLE;

/** A configuration with everything that a role of its own may need, as far as its role needs it. */
export interface DistributedConfig extends Config {
  databaseUrl: string;
  clickhouseUrl: string;
  distributed: NonNullable<Config['distributed']>;
  controlPlaneUrl: string;
}

/** Throws Fatal `bad_configuration` (exit 2) that names every variable which this role lacks. */
export function checkRoleNeeds(role: Role, config: Config): asserts config is DistributedConfig {
  const missing = OF_ROLE[role].filter((name) => !NEEDS[name](config));
  if (missing.length === 0) return;
  throw new Fatal(
    'bad_configuration',
    `Bad configuration: ${role} as a process of its own needs ${missing.join(', ')}. ` +
      '`npm start` runs everything on this machine without them.',
  );
}
