import type { Registry } from 'prom-client';
import type { OpenedWarehouse } from '../infra/open-warehouse.ts';
import { systemClock } from '../infra/ports/clock.ts';
import type { DeadLetters, EventLogReader } from '../infra/ports/event-log.ts';
import { createPool } from '../infra/postgres/pool.ts';
import type { Relational } from '../infra/relational.ts';
import type { RoleContext } from '../infra/role-process.ts';
import { whenThere } from '../infra/when-there.ts';
import { keepMending } from './audit/mend-damage.ts';
import type { SharedLoad } from './load-range.ts';
import { createStandstill } from './stand-still.ts';
import { AGGREGATOR_CHANNELS, type Aggregator, startAggregator } from './start-aggregator.ts';
import { ensureEventIds } from './store/event-ids.ts';
import { createTurns } from './turns.ts';

export interface LoadDeps extends OpenedWarehouse {
  relational: Relational;
  logReader: EventLogReader;
  /** Of a log that others write as well, and whose partitions several aggregators share. */
  deadLetters?: DeadLetters;
  metrics: Registry;
  /** Made when the load starts. */
  openDisk(): { isLow(): boolean };
  /** Of its leases: one process's own at any time. */
  owner: string;
}

/** The load as a part of a process. */
export interface Load {
  /** For the listener. What is heard before its start is of no use: it begins with what is on the log. */
  readonly channels: Record<string, () => void>;
  /** Resolves when it runs: it waits for ClickHouse, and brings it up to this release. */
  start(): Promise<void>;
  /** False until damage of the warehouse is known, and a repair of it asked for. */
  isLookedAt(): boolean;
}

/** One for each act of the loader that may run beside another, one of settling, and one to spare. */
const CONNECTIONS_MAX = 5;
/** The same where partitions are many: at most, for one may be given all of them. */
const SHARED_CONNECTIONS = { each: 2, more: 4, most: 40 };
const HOUR_MS = 3_600_000;
/** Ids of a key that is used again at the end of the hot window are looked up for a while. */
const IDS_KEPT_LONGER_HOURS = 24;

export function openLoad(context: RoleContext, deps: LoadDeps): Load {
  const { config, log } = context;
  // A server of the operator's is his to look after, as are its disks.
  let isLookedAt = config.clickhouseUrl !== undefined;
  let load: Aggregator | undefined;
  context.closer.add('aggregator', { drain: () => load?.close() });
  const hear = (channel: (typeof AGGREGATOR_CHANNELS)[number]) => () => load?.channels[channel]();
  return {
    channels: Object.fromEntries(AGGREGATOR_CHANNELS.map((channel) => [channel, hear(channel)])),
    async start() {
      await migrate(context, deps);
      load = startLoad(context, deps);
      if (isLookedAt) return;
      const onLook = () => {
        isLookedAt = true;
      };
      const mending = keepMending(deps.relational.pool, deps.warehouse, { log, onLook });
      context.closer.add('mending', { drain: () => mending.close() });
    },
    isLookedAt: () => isLookedAt,
  };
}

async function migrate(context: RoleContext, deps: LoadDeps): Promise<void> {
  const { config, log } = context;
  const { relational, warehouse, logReader: reader, owner, setRetention, everywhere } = deps;
  const load = { pool: relational.pool, warehouse, reader, clock: systemClock, log };
  const atStandstill = createStandstill({ ...load, ...sharing(context, deps) }, { owner });
  await whenThere('ClickHouse', () => warehouse.migrate({ atStandstill }), log);
  await whenThere('ClickHouse', setRetention, log);
  if (!config.shared) return;
  const keysKeptMs = config.shared.keys.hotWindowMs + config.ingest.eventAheadMsMax;
  const hours = Math.ceil(keysKeptMs / HOUR_MS) + IDS_KEPT_LONGER_HOURS;
  await whenThere('ClickHouse', () => ensureEventIds(warehouse, hours, everywhere), log);
}

function sharing({ config }: RoleContext, { deadLetters }: LoadDeps): { shared?: SharedLoad } {
  if (!deadLetters) return {};
  // Blocks are written with a quorum there, one after the other.
  const oneAtATime = config.clickhouseCluster === undefined ? {} : { oneAtATime: createTurns() };
  return { shared: { deadLetters, entering: createTurns(), settling: createTurns(), ...oneAtATime } };
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
      ...{ pool, warehouse, reader, clock: systemClock, log, metrics, disk },
      ...{ eventsRetentionDays, eventAheadMsMax, ...sharing(context, deps) },
    },
    { owner, lingerMs },
  );
  load.failed.catch(fail);
  return load;
}
