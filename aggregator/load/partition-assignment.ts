import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { createWakeup } from '../../infra/platform/wakeup.ts';
import { WHOLE_LOG } from '../store/leases.ts';
import { removeMember, renewMember, type Sharing } from '../store/load-members.ts';

/** Which partitions this process should load. Leases decide who may load; this only avoids contention. */
export interface PartitionAssignment {
  isAssigned(partition: number): boolean;
  close(): Promise<void>;
}

/** Of a log that one process loads. */
export const ALL_PARTITIONS: PartitionAssignment = { isAssigned: () => true, close: async () => undefined };

export interface AssignmentDeps {
  pool: Pool;
  log: Logger;
}

export interface AssignmentOptions {
  logId: string;
  owner: string;
  partitions: number;
  /** Of a partition's lease. */
  leaseMs: number;
}

const EVERY_MS = 1_000;
/** A member that has not reported for so long no longer counts; its leases expire by themselves. */
const LIVES_MS = 5_000;

export function startPartitionAssignment(
  { pool, log }: AssignmentDeps,
  options: AssignmentOptions,
): PartitionAssignment {
  const { logId, owner, partitions, leaseMs } = options;
  const end = createWakeup();
  let mine: ReadonlySet<number> = new Set();
  let isClosing = false;

  async function keepSharing(): Promise<void> {
    while (!isClosing) {
      try {
        const sharing = await renewMember(pool, { logId, owner, livesMs: LIVES_MS, leaseMs });
        mine = assignPartitions(sharing, owner, partitions);
      } catch (err) {
        log.debug({ err }, 'the other aggregators cannot be read');
      }
      await end.wait(EVERY_MS);
    }
    await removeMember(pool, logId, owner).catch((err: unknown) =>
      log.debug({ err }, 'a member is left to run out'),
    );
  }

  const sharing = keepSharing();
  return {
    isAssigned: (partition) => mine.has(partition),
    async close() {
      isClosing = true;
      end.wake();
      await sharing;
    },
  };
}

/**
 * The partitions that this process holds, up to its share, and free ones until the share is full. Each
 * process begins the search at another partition, so that two new processes do not take the same ones. While
 * a process holds the whole log, all partitions are assigned to it.
 */
export function assignPartitions({ members, held }: Sharing, owner: string, partitions: number): Set<number> {
  const part = Math.ceil(partitions / Math.max(1, members));
  const owners = new Map(held.map((one) => [one.partition, one.owner]));
  const whole = owners.get(WHOLE_LOG);
  if (whole !== undefined) return new Set(whole === owner ? Array(partitions).keys() : []);
  const isPartition = (number: number) => number >= 0;
  const mine = [...owners].flatMap(([number, by]) => (by === owner && isPartition(number) ? [number] : []));
  const from = [...owner].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) >>> 0, 7);
  const all = Array.from({ length: partitions }, (_, at) => (from + at) % partitions);
  const free = all.filter((partition) => !owners.has(partition));
  return new Set([...mine, ...free].slice(0, part));
}
