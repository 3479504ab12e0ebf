import type { Registry } from 'prom-client';
import { keepRepairing } from '../../aggregator/audit/repair-damage.ts';
import { createKnownWarehouse, keepStamping } from '../../aggregator/known-warehouse.ts';
import type { DistributedLoad } from '../../aggregator/load/load-range.ts';
import { createPause } from '../../aggregator/load/pause-load.ts';
import { rebuildWarehouse } from '../../aggregator/rebuild-warehouse.ts';
import { AGGREGATOR_CHANNELS, type Aggregator, startAggregator } from '../../aggregator/start-aggregator.ts';
import { ensureEventIds } from '../../aggregator/store/event-ids.ts';
import { rangeEnds } from '../../aggregator/store/ranges.ts';
import { createMutex } from '../../infra/platform/mutex.ts';
import { retryUntilAvailable } from '../../infra/platform/retry-until-available.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { DeadLetters, EventLogReader } from '../../infra/ports/event-log.ts';
import type { Pause } from '../../infra/ports/warehouse.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import { Fatal } from '../../schemas/failures.ts';
import type { OpenedWarehouse } from './open-warehouse.ts';
import type { Relational } from './relational.ts';
import type { RoleContext } from './role-process.ts';

export interface LoadDeps extends OpenedWarehouse {
  relational: Relational;
  logReader: EventLogReader;
  /** Set in distributed mode: other processes write the log too, and several aggregators load it. */
  deadLetters?: DeadLetters;
  metrics: Registry;
  /** Made when the load starts. */
  openDisk(): { isLow(): boolean };
  /** Of its leases: one process's own at any time. */
  owner: string;
}

/** The load as a part of a process. */
export interface Load {
  /** For the listener. Notifications before its start are not needed: it begins with what is on the log. */
  readonly channels: Record<string, () => void>;
  /** Resolves when it runs: it waits for ClickHouse, and brings it up to this release. */
  start(): Promise<void>;
  /** False until damage of the warehouse is known, and its repair is requested. */
  isLookedAt(): boolean;
}

/** One for each act of the loader that may run concurrently, one for settling, and one to spare. */
const CONNECTIONS_MAX = 5;
/** The same where partitions are many: at most, for one may be given all of them. */
const SHARED_CONNECTIONS = { each: 2, more: 4, most: 40 };
const HOUR_MS = 3_600_000;
/** Ids of a key that is used again at the end of the hot window are looked up for a while. */
const IDS_KEPT_LONGER_HOURS = 24;

export function openLoad(context: RoleContext, deps: LoadDeps): Load {
  const { config, log } = context;
  // The operator manages an external server and its disks.
  let isLookedAt = config.clickhouseUrl !== undefined;
  let isKnown = false;
  let load: Aggregator | undefined;
  context.closer.add('aggregator', { drain: () => load?.close() });
  const wakeUp = (channel: (typeof AGGREGATOR_CHANNELS)[number]) => () => load?.channels[channel]();
  return {
    channels: Object.fromEntries(AGGREGATOR_CHANNELS.map((channel) => [channel, wakeUp(channel)])),
    async start() {
      await openKnown(context, deps);
      isKnown = true;
      load = startLoad(context, deps);
      if (isLookedAt) return;
      const onLook = () => {
        isLookedAt = true;
      };
      const repairing = keepRepairing(deps.relational.pool, deps.warehouse, { log, onLook });
      context.closer.add('repairing', { drain: () => repairing.close() });
    },
    isLookedAt: () => isKnown && isLookedAt,
  };
}

/**
 * Brings the warehouse up to this release, once it is known to be the one in which usage was counted. Another
 * one is rejected; with WAREHOUSE_REBUILD it is filled from the log, while no process loads.
 */
async function openKnown(context: RoleContext, deps: LoadDeps): Promise<void> {
  const { config, log, closer } = context;
  const { relational, warehouse, logReader: reader, owner, stamps } = deps;
  const { pool } = relational;
  const logId = Buffer.from(reader.logId).toString('hex');
  const keepsEvents = config.eventsRetentionDays === undefined;
  const known = createKnownWarehouse({ pool, warehouse, stamps, logId, keepsEvents });
  const load = { pool, warehouse, reader, clock: systemClock, log };
  const atPause = createPause({ ...load, ...sharing(context, deps) }, { owner });
  const rejection = await retryUntilAvailable('ClickHouse', known.rejectOther, log).catch(
    (error: unknown) => {
      if (config.warehouseRebuild && isRepaired(error)) return error;
      throw error;
    },
  );
  await migrate(context, deps, atPause);
  if (rejection) {
    log.warn(
      { code: rejection.code },
      'WAREHOUSE_REBUILD: the warehouse is made again of what the log holds',
    );
    await retryUntilAvailable(
      'ClickHouse',
      () => atPause((mayWrite) => rebuildWarehouse(load, mayWrite)),
      log,
    );
  }
  await retryUntilAvailable('ClickHouse', known.stamp, log);
  const position = () => rangeEnds(pool, logId);
  const stamping = keepStamping({ stamp: known.stamp, position, log });
  closer.add('stamps of the warehouse', stamping);
}

/** The others are of two installations, or of two times, and what is put there would be mixed with that. */
function isRepaired(error: unknown): error is Fatal {
  return error instanceof Fatal && (error.code === 'warehouse_missing' || error.code === 'warehouse_older');
}

async function migrate(context: RoleContext, deps: LoadDeps, atPause: Pause): Promise<void> {
  const { config, log } = context;
  const { warehouse, setRetention, everywhere } = deps;
  await retryUntilAvailable('ClickHouse', () => warehouse.migrate({ atPause }), log);
  await retryUntilAvailable('ClickHouse', setRetention, log);
  if (!config.distributed) return;
  const keysKeptMs = config.distributed.keys.hotWindowMs + config.ingest.eventAheadMsMax;
  const hours = Math.ceil(keysKeptMs / HOUR_MS) + IDS_KEPT_LONGER_HOURS;
  await retryUntilAvailable('ClickHouse', () => ensureEventIds(warehouse, hours, everywhere), log);
}

function sharing({ config }: RoleContext, { deadLetters }: LoadDeps): { distributed?: DistributedLoad } {
  if (!deadLetters) return {};
  // Blocks are written with a quorum there, one after the other.
  const oneAtATime = config.clickhouseCluster === undefined ? {} : { oneAtATime: createMutex() };
  return { distributed: { deadLetters, entering: createMutex(), settling: createMutex(), ...oneAtATime } };
}

/** On connections of its own: readers that take all of theirs must not hold up counting. */
function startLoad(context: RoleContext, deps: LoadDeps): Aggregator {
  const { config, closer, fail } = context;
  const { relational, warehouse, logReader: reader, metrics, owner } = deps;
  const log = context.log.child({ component: 'aggregator' });
  const disk = deps.openDisk();
  const { deadLetters } = deps;
  const { each, more, most } = SHARED_CONNECTIONS;
  const max = deadLetters ? Math.min(each * reader.partitions + more, most) : CONNECTIONS_MAX;
  const pool = createPool({ url: relational.url, name: 'load', log, max });
  closer.add('load pool', { close: () => pool.end() });
  const { eventsRetentionDays, loadLingerMs: lingerMs } = config;
  const { eventAheadMsMax } = config.ingest;
  const load = startAggregator(
    {
      pool,
      warehouse,
      reader,
      clock: systemClock,
      log,
      metrics,
      disk,
      eventsRetentionDays,
      eventAheadMsMax,
      ...sharing(context, deps),
    },
    { owner, lingerMs },
  );
  load.failed.catch(fail);
  return load;
}
