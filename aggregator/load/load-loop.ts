import type { MemoryPool } from '../../infra/platform/memory-pool.ts';
import type { Wakeup } from '../../infra/platform/wakeup.ts';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import { EVENT_TWICE } from '../../schemas/alarm-codes.ts';
import { Fatal } from '../../schemas/failures.ts';
import type { AggregatorOptions } from '../aggregator-options.ts';
import { type Settler, startSettler } from '../settle/settler.ts';
import { raiseAlarm } from '../store/alarms.ts';
import { recordLogStart } from '../store/log-trims.ts';
import { endOfRanges, LATEST_RANGES, pruneRanges, takeOverRanges } from '../store/ranges.ts';
import { type Block, touchedBy } from './block.ts';
import { type BlockReader, createBlockReader } from './block-reader.ts';
import { withKnownIds } from './doubtful-ids.ts';
import type { Lease } from './lease.ts';
import { type DistributedLoad, type LoadDeps, loadBlock, resumeRange } from './load-range.ts';
import type { LoadState } from './load-state.ts';
import type { PartitionAssignment } from './partition-assignment.ts';
import type { RecentIds } from './recent-ids.ts';
import { seedRecentIds } from './seed-recent-ids.ts';

export interface LoadLoopDeps extends LoadDeps {
  /** Usage that occurred before this time is not kept. */
  keptFromMs: () => number;
  disk: { isLow(): boolean };
  wakeup: Wakeup;
  /** For what is read from the log; of all partitions of this process. */
  memory: MemoryPool;
  /** Whether the partition is assigned to this process. */
  assignment: PartitionAssignment;
}

/** How often the loop checks the log while it has nothing to do. */
const POLL_MS = 20;
const PRUNE_EVERY_MS = 60_000;
/** A batch takes milliseconds, and a load waits for it. Far more than a minute adds: two ranges a second. */
const PRUNE = { rowsMax: 1_000, batchesMax: 10 };

/**
 * Loads the partition until `closing` (the states: {@link LoadState}). Throws every failure and drops all
 * that is known in memory: the next run begins with what is written in Postgres. Calls `onHealthy` once the
 * log can be loaded and what was loaded until then is settled, and regularly while it loads more.
 */
export async function runLoadLoop(
  deps: LoadLoopDeps,
  options: AggregatorOptions,
  { lease, state, onHealthy }: { lease: Lease; state: LoadState; onHealthy: () => Promise<void> },
): Promise<void> {
  // Nothing is settled before all of it is repaired: until then an hour may count twice what is sent again,
  // and a settlement is permanent.
  // mutant: settled-before-it-is-whole
  const resumed = await state.resume(() => resumeAll(deps, lease));
  const settler = startSettler(deps, lease);
  try {
    for (const [range, touched] of resumed) await settler.add(range, touched);
    await loadOn(deps, options, { lease, state, onHealthy, settler });
  } finally {
    await settler.close();
  }
}

interface Run {
  lease: Lease;
  state: LoadState;
  onHealthy: () => Promise<void>;
  settler: Settler;
}

async function loadOn(
  deps: LoadLoopDeps,
  options: AggregatorOptions,
  { lease, state, onHealthy, settler }: Run,
): Promise<void> {
  const { pool, reader, memory } = deps;
  const from = await endOfRanges(pool, lease);
  await checkEnd(reader, lease, from);
  const recentIds = await seedRecentIds(deps, lease, from, options);
  const blockReader = createBlockReader({ reader, memory, partition: lease.partition }, from, options);
  await blockReader.extend();
  state.begin({ lease, position: from });
  // Not earlier: a load that fails each time would look healthy between two failures.
  if (blockReader.isEmpty()) settler.onceSettled(onHealthy);
  let loadedAtMs = Number.NEGATIVE_INFINITY;
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  while (await isDue(deps, options, { blockReader, state, loadedAtMs, settler })) {
    loadedAtMs = deps.clock.monotonicMs();
    state.readerWaits = false;
    await state.load(lease, (loadedTo) =>
      loadNext(deps, { lease, blockReader, recentIds, settler, loadedTo }),
    );
    if (loadedAtMs - prunedAtMs < PRUNE_EVERY_MS) continue;
    // Also later: an earlier owner may have raised an alarm that is over by now.
    settler.onceSettled(onHealthy);
    await prune(deps, lease);
    prunedAtMs = loadedAtMs;
  }
}

/** A log never loses what was durable once. */
async function checkEnd(reader: EventLogReader, lease: Lease, position: number): Promise<void> {
  const end = await reader.durableEnd(lease.partition);
  if (end >= position) return;
  throw new Fatal(
    'log_shrunk',
    `Partition ${lease.partition} ends at ${end}, and was loaded up to ${position}: it is not the same log.`,
  );
}

async function prune({ pool, reader, distributed }: LoadLoopDeps, lease: Lease): Promise<void> {
  // Kafka deletes its oldest records by itself.
  if (distributed) await recordLogStart(pool, lease, await reader.start(lease.partition));
  const limits = { keep: LATEST_RANGES, rowsMax: PRUNE.rowsMax };
  for (let batch = 0; batch < PRUNE.batchesMax; batch++) {
    if ((await pruneRanges(pool, lease, limits)) < PRUNE.rowsMax) return;
  }
}

/** Finishes what an earlier owner or run left unfinished. Returns what is then to be settled. */
async function resumeAll(deps: LoadDeps, lease: Lease): Promise<Array<Parameters<Settler['add']>>> {
  const resumed: Array<Parameters<Settler['add']>> = [];
  for (const range of await takeOverRanges(deps.pool, lease, lease.epoch)) {
    deps.log.info({ lo: range.lo, hi: range.hi, state: range.state }, 'continues with an unsettled range');
    resumed.push([range, touchedBy(await resumeRange(deps, lease, range))]);
  }
  return resumed;
}

interface Wait {
  blockReader: BlockReader;
  state: LoadState;
  loadedAtMs: number;
  settler: Settler;
}

/**
 * Waits until a block should be loaded: at once after an idle time, after `readerLingerMs` when a strong read
 * waits, and under load when the block is full or `lingerMs` have passed. False: the loop has to end.
 */
async function isDue(
  { reader, clock, metrics, disk, wakeup, assignment }: LoadLoopDeps,
  { lingerMs, readerLingerMs }: AggregatorOptions,
  { blockReader, state, loadedAtMs, settler }: Wait,
): Promise<boolean> {
  while (!state.closing) {
    settler.check();
    if (!state.isHeld) await blockReader.extend();
    if (state.phase.name !== 'paused') return false;
    const { lease, position } = state.phase;
    if (!assignment.isAssigned(lease.partition)) return false;
    metrics.lag(lease.partition, (await reader.durableEnd(lease.partition)) - position);
    const sinceMs = clock.monotonicMs() - loadedAtMs;
    const waitMs = state.readerWaits ? Math.min(readerLingerMs, lingerMs) : lingerMs;
    const ripe = blockReader.isFull() || (!blockReader.isEmpty() && sinceMs >= waitMs);
    if (ripe && !disk.isLow()) return true;
    await wakeup.wait(
      ripe || blockReader.isEmpty() ? POLL_MS : Math.min(POLL_MS, Math.max(1, waitMs - sinceMs)),
    );
  }
  return false;
}

interface Next {
  lease: Lease;
  blockReader: BlockReader;
  recentIds: RecentIds;
  settler: Settler;
  /** Called once the block's range is marked. */
  loadedTo: (position: number) => void;
}

/** Loads one block. */
async function loadNext(deps: LoadLoopDeps, next: Next): Promise<void> {
  const { lease, blockReader, recentIds, settler, loadedTo } = next;
  const block = blockReader.take();
  const { distributed } = deps;
  // mutant: foreign-record-dropped
  if (distributed && block.foreign.length > 0) await sendToDeadLetters(deps, distributed, lease, block);
  const recent = recentIds.filter(block, deps.clock.nowMs());
  const dropped = distributed ? await withKnownIds(deps.warehouse, block, recent, recentIds) : recent;
  if (dropped.length > 0) await reportDoubles(deps, lease, dropped.length);
  // mutant: memory-given-back-early
  const loading = loadBlock(deps, lease, block, dropped);
  // A backlog is read ahead while the insert runs; the next extend meets a failure of it again.
  const [range] = await Promise.all([loading, blockReader.extend().catch(() => undefined)]);
  loadedTo(block.hi);
  await settler.add(range, touchedBy(block));
  // Not after a failure: an insert of unknown outcome may still read it.
  block.memory?.giveBack();
}

/** Runs before the range is frozen: a crash in between writes the records twice, and loses none. */
async function sendToDeadLetters(
  { log, metrics }: LoadLoopDeps,
  { deadLetters }: DistributedLoad,
  { partition }: Lease,
  { foreign }: Block,
): Promise<void> {
  await deadLetters.put(partition, foreign);
  metrics.foreignRecords(foreign.length);
  log.warn(
    { partition, records: foreign.length },
    'records that Metergate did not write are dead letters now',
  );
}

async function reportDoubles(deps: LoadLoopDeps, lease: Lease, events: number): Promise<void> {
  const { pool, log, metrics } = deps;
  metrics.doubled(events);
  // In distributed mode a take-over may write an event again that is on the log: the second one is dropped.
  if (deps.distributed)
    return log.info({ events, partition: lease.partition }, 'events were left out as known');
  log.error({ events }, 'events are on the log twice: the second ones are left out');
  const message = `${events} events were on the log twice and are counted once.`;
  await raiseAlarm(pool, lease, { code: EVENT_TWICE, message });
}
