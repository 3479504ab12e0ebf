import { Client } from 'pg';
import type { DistributedInstallation } from '../../support/distributed-installation.ts';
import { PARTITIONS } from '../../support/distributed-installation.ts';
import { seenInTime } from '../../support/in-time.ts';

/** Longer than a lease, and what its owner may hold up while paused. */
const CHANGE = { timeoutMs: 90_000, everyMs: 200 };

/** Resolves when all partitions are held, by so many aggregators. */
export async function sharedBy({ environment }: DistributedInstallation, owners: number): Promise<void> {
  const client = new Client({ connectionString: environment.DATABASE_URL });
  client.on('error', () => undefined); // the failing query reports it
  await client.connect();
  try {
    const isShared = async () => {
      const { rows } = await client.query<{ held: string; owners: string }>(
        `SELECT count(*) AS held, count(DISTINCT owner) AS owners
         FROM partition_leases WHERE expires_at > now()`,
      );
      const [seen] = rows;
      return (Number(seen?.held) === PARTITIONS && Number(seen?.owners) === owners) || undefined;
    };
    await seenInTime(isShared, CHANGE, `${PARTITIONS} partitions to be shared by ${owners}`);
  } finally {
    await client.end();
  }
}
