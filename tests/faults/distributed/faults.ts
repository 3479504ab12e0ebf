import { setTimeout as pass } from 'node:timers/promises';
import type { Role } from '../../../app/config/role-needs.ts';
import { type DistributedInstallation, PARTITIONS } from '../../support/distributed-installation.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { waitUntilCounted } from '../../support/wait-until-counted.ts';
import { queryPostgres } from '../query-postgres.ts';

/** What is done to one part of an installation while it is under load, and then repaired. */
export interface Fault {
  /** In words, with the name of its count: `killsOfKafka`. */
  counted: string;
  /** Resolves when the part is there again. `meanwhile` is called while it is not. */
  inflict(installation: DistributedInstallation, how: HowLong): Promise<void>;
  /** Without it nothing can be acknowledged. */
  stopsUsage?: boolean;
}

export interface HowLong {
  /** Which of several processes. */
  nth: number;
  hangMs: number;
  meanwhile(): Promise<void>;
}

/** For the others to notice its end. */
const GONE_MS = 300;

interface Killed {
  kill(): Promise<unknown>;
  start(): Promise<unknown>;
}

function killOf(counted: string, victimOf: (one: DistributedInstallation, nth: number) => Killed): Fault {
  return {
    counted,
    async inflict(installation, { nth }) {
      const victim = victimOf(installation, nth);
      await victim.kill();
      await pass(GONE_MS);
      await victim.start();
    },
  };
}

function killOfRole(role: Role, counted: string): Fault {
  return killOf(counted, ({ roles }, nth) => nthOf(roles[role], nth));
}

function nthOf(roles: RunningRole[], nth: number): RunningRole {
  const role = roles[nth % roles.length];
  if (!role) throw new Error('no process of this role was started');
  return role;
}

/** The faults of a server, in a container or native. */
interface Server extends Killed {
  freeze(): unknown;
  thaw(): unknown;
}

type StoreName = 'kafka' | 'redis' | 'postgres' | 'warehouse';

function serverOf(installation: DistributedInstallation, name: StoreName): Server {
  if (name === 'postgres' || name === 'warehouse') return installation[name];
  const { kill, restart, pause, resume } = installation[name];
  return { kill, start: () => restart(), freeze: pause, thaw: resume };
}

const NEEDED: Record<StoreName, boolean> = { kafka: true, redis: true, postgres: false, warehouse: false };

function killOfStore(name: StoreName, counted: string): Fault {
  return killOf(counted, (installation) => serverOf(installation, name));
}

function hangOfStore(name: StoreName, counted: string): Fault {
  return {
    counted,
    stopsUsage: NEEDED[name],
    async inflict(installation, { hangMs, meanwhile }) {
      const server = serverOf(installation, name);
      await server.freeze();
      try {
        const until = performance.now() + hangMs;
        await meanwhile();
        await pass(Math.max(0, until - performance.now()));
      } finally {
        await server.thaw();
      }
    },
  };
}

/** For what is on the log to be counted by the processes that are left. */
const COUNTED_MS = 60_000;

/**
 * It is paused until the other holds all partitions and has counted what is on the log, and then goes on
 * in the middle of whatever it was about.
 */
const hangOfAggregator: Fault = {
  counted: 'hangsOfAggregator',
  async inflict(installation, { nth }) {
    const { aggregator } = installation.roles;
    await sharedBy(installation, aggregator.length);
    const victim = nthOf(aggregator, nth);
    victim.freeze();
    try {
      await sharedBy(installation, aggregator.length - 1);
      await waitUntilCounted(installation.judged, COUNTED_MS);
    } finally {
      victim.thaw();
    }
    await sharedBy(installation, aggregator.length);
  },
};

/** A third one joins, one of the first two leaves and comes back, and the third one leaves. */
const rebalance: Fault = {
  counted: 'rebalances',
  async inflict(installation, { nth }) {
    const { aggregator } = installation.roles;
    await sharedBy(installation, aggregator.length);
    const joined = await installation.add('aggregator');
    await sharedBy(installation, aggregator.length + 1);
    const leaving = nthOf(aggregator, nth);
    await stopInOrder(leaving);
    await sharedBy(installation, aggregator.length);
    await leaving.start();
    await sharedBy(installation, aggregator.length + 1);
    await stopInOrder(joined);
    await sharedBy(installation, aggregator.length);
  },
};

/** Longer than a lease, and what its owner may hold up while paused. */
const CHANGE = { timeoutMs: 90_000, everyMs: 200 };

/** Resolves when all partitions are held, by so many aggregators. */
async function sharedBy({ environment }: DistributedInstallation, owners: number): Promise<void> {
  const isShared = async () => {
    const [seen] = await queryPostgres<{ held: string; owners: string }>(
      environment.DATABASE_URL,
      `SELECT count(*) AS held, count(DISTINCT owner) AS owners
       FROM partition_leases WHERE expires_at > now()`,
    );
    return (Number(seen?.held) === PARTITIONS && Number(seen?.owners) === owners) || undefined;
  };
  await seenInTime(isShared, CHANGE, `${PARTITIONS} partitions to be shared by ${owners}`);
}

async function stopInOrder(one: RunningRole): Promise<void> {
  const exitCode = await one.stop();
  if (exitCode !== 0) throw new Error(`a stop of ${one.role} ended with ${exitCode}: ${one.log()}`);
}

/** In this order: those that a short form has come first. */
export const FAULTS: readonly Fault[] = [
  killOfRole('ingest', 'killsOfIngest'),
  killOfStore('kafka', 'killsOfKafka'),
  killOfRole('aggregator', 'killsOfAggregator'),
  hangOfStore('redis', 'hangsOfRedis'),
  killOfStore('redis', 'killsOfRedis'),
  hangOfStore('kafka', 'hangsOfKafka'),
  killOfRole('control-plane', 'killsOfControlPlane'),
  killOfStore('postgres', 'killsOfPostgres'),
  hangOfStore('postgres', 'hangsOfPostgres'),
  killOfRole('delivery', 'killsOfDelivery'),
  killOfStore('warehouse', 'killsOfWarehouse'),
  hangOfStore('warehouse', 'hangsOfWarehouse'),
  hangOfAggregator,
  rebalance,
];
