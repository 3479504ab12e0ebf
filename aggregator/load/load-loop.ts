import type { Wakeup } from '../../infra/platform/wakeup.ts';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import { EVENT_TWICE } from '../../schemas/alarm-codes.ts';
import { Fatal } from '../../schemas/failures.ts';
import type { AggregatorOptions } from '../aggregator-options.ts';
import { type Settler, startSettler } from '../settle/settler.ts';
import { raiseAlarm } from '../store/alarms.ts';
import { noteLogStart } from '../store/log-trims.ts';
import { endOfRanges, LATEST_RANGES, pruneRanges, takeOverRanges } from '../store/ranges.ts';
import { type Block, touchedBy } from './block.ts';
import { type BlockReader, createBlockReader } from './block-reader.ts';
import { withKnownIds } from './known-ids.ts';
import type { Lease } from './lease.ts';
import { type DistributedLoad, type LoadDeps, loadBlock, resumeRange } from './load-range.ts';
import type { Mutex } from './mutex.ts';
import type { Share } from './partition-assignment.ts';
import type { RecentIds } from './recent-ids.ts';
import { seedRecentIds } from './seed-recent-ids.ts';

export interface LoadLoopDeps extends LoadDeps {
  /** Usage that occurred before this moment is not kept. */
  keptFromMs: () => number;
  disk: { isLow(): boolean };
  wakeup: Wakeup;
  /** Whether this process should hold the partition at all. */
  share: Share;
  /** A load is a turn, so that others can have the partition standing still between two of them. */
  turns: Mutex;
}

/** What the loop is told and tells, while it runs. */
export interface LoopState {
  closing: boolean;
  /** Somebody waits for what is on the log. */
  readerWaits: boolean;
  /** Set while nothing is pending: everything before `position` is loaded, nothing behind it. */
  standing: { lease: Lease; position: number } | undefined;
  /** Somebody has it standing still, for as long as he likes: nothing is read ahead meanwhile. */
  isStill: boolean;
}

/** How often the log is looked at while nothing is to be done. */
const POLL_MS = 20;
const PRUNE_EVERY_MS = 60_000;
/** A batch takes milliseconds, and a load waits for it. Far more than a minute adds: two ranges a second. */
const PRUNE = { rowsMax: 1_000, batchesMax: 10 };

/**
 * Loads the partition until `closing`. Whatever goes wrong is thrown, and everything known in memory is given
 * up with it: the next run begins with what is written in Postgres. `onHealthy` comes once what stands on the
 * log can be loaded, and what was loaded until then is settled; and now and then while more is.
 */
export async function runLoadLoop(
  deps: LoadLoopDeps,
  options: AggregatorOptions,
  { lease, state, onHealthy }: { lease: Lease; state: LoopState; onHealthy: () => Promise<void> },
): Promise<void> {
  // Nothing is settled before all of it is whole: an hour may have what is sent again twice until then, and
  // what is settled is settled for good.
  const resumed = await deps.turns(() => resumeAll(deps, lease));
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
  state: LoopState;
  onHealthy: () => Promise<void>;
  settler: Settler;
}

async function loadOn(
  deps: LoadLoopDeps,
  options: AggregatorOptions,
  { lease, state, onHealthy, settler }: Run,
): Promise<void> {
  const { pool, reader, turns } = deps;
  const from = await endOfRanges(pool, lease);
  await checkEnd(reader, lease, from);
  const recentIds = await seedRecentIds(deps, lease, from, options);
  const blockReader = createBlockReader({ reader, partition: lease.partition }, from, options);
  await blockReader.extend();
  state.standing = { lease, position: from };
  // Not before: what fails each time would look healthy between two of its failures.
  if (blockReader.isEmpty()) settler.onceSettled(onHealthy);
  let loadedAtMs = Number.NEGATIVE_INFINITY;
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  while (await isDue(deps, options, { blockReader, state, loadedAtMs, settler })) {
    loadedAtMs = deps.clock.monotonicMs();
    state.readerWaits = false;
    await turns(() => loadNext(deps, { lease, state, blockReader, recentIds, settler }));
    if (loadedAtMs - prunedAtMs < PRUNE_EVERY_MS) continue;
    // Also later: an owner before may have raised what is over by now.
    settler.onceSettled(onHealthy);
    await prune(deps, lease);
    prunedAtMs = loadedAtMs;
  }
}

/** Nobody takes back what was durable once. */
async function checkEnd(reader: EventLogReader, lease: Lease, position: number): Promise<void> {
  const end = await reader.durableEnd(lease.partition);
  if (end >= position) return;
  throw new Fatal(
    'log_shrunk',
    `Partition ${lease.partition} ends at ${end}, and was loaded up to ${position}: it is not the same log.`,
  );
}

async function prune({ pool, reader, shared }: LoadLoopDeps, lease: Lease): Promise<void> {
  // Kafka gives up its oldest records by itself.
  if (shared) await noteLogStart(pool, lease, await reader.start(lease.partition));
  const limits = { keep: LATEST_RANGES, rowsMax: PRUNE.rowsMax };
  for (let batch = 0; batch < PRUNE.batchesMax; batch++) {
    if ((await pruneRanges(pool, lease, limits)) < PRUNE.rowsMax) return;
  }
}

/** Finishes what an owner before, or a run before, left unfinished. Gives what is then to be settled. */
async function resumeAll(deps: LoadDeps, lease: Lease): Promise<Array<Parameters<Settler['add']>>> {
  const resumed: Array<Parameters<Settler['add']>> = [];
  for (const range of await takeOverRanges(deps.pool, lease, lease.epoch)) {
    deps.log.info({ lo: range.lo, hi: range.hi, state: range.state }, 'goes on with an unsettled range');
    resumed.push([range, touchedBy(await resumeRange(deps, lease, range))]);
  }
  return resumed;
}

interface Wait {
  blockReader: BlockReader;
  state: LoopState;
  loadedAtMs: number;
  settler: Settler;
}

/**
 * Waits until a block should be loaded: at once after a pause, a moment later when somebody waits for it, and
 * under load when the block is full or `lingerMs` have passed. False: the loop has to end.
 */
async function isDue(
  { reader, clock, metrics, disk, wakeup, share }: LoadLoopDeps,
  { lingerMs, readerLingerMs }: AggregatorOptions,
  { blockReader, state, loadedAtMs, settler }: Wait,
): Promise<boolean> {
  while (!state.closing) {
    settler.check();
    if (!state.isStill) await blockReader.extend();
    const { lease, position } = state.standing ?? {};
    if (!lease || position === undefined || !share.isAssigned(lease.partition)) return false;
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
  state: LoopState;
  blockReader: BlockReader;
  recentIds: RecentIds;
  settler: Settler;
}

/** While it runs the partition is not standing; when it fails it stays so. */
async function loadNext(deps: LoadLoopDeps, next: Next): Promise<void> {
  const { lease, state, blockReader, recentIds, settler } = next;
  state.standing = undefined;
  const block = blockReader.take();
  const { shared } = deps;
  if (shared && block.foreign.length > 0) await setAside(deps, shared, lease, block);
  const recent = recentIds.filter(block, deps.clock.nowMs());
  const dropped = shared ? await withKnownIds(deps.warehouse, block, recent, recentIds) : recent;
  if (dropped.length > 0) await reportDoubles(deps, lease, dropped.length);
  const loading = loadBlock(deps, lease, block, dropped);
  // A backlog is read ahead while the insert runs; what goes wrong with it is met again by the next extend.
  const [range] = await Promise.all([loading, blockReader.extend().catch(() => undefined)]);
  state.standing = { lease, position: block.hi };
  await settler.add(range, touchedBy(block));
}

/** Before the range is frozen: a crash in between puts them there twice, and loses none. */
async function setAside(
  { log, metrics }: LoadLoopDeps,
  { deadLetters }: DistributedLoad,
  { partition }: Lease,
  { foreign }: Block,
): Promise<void> {
  await deadLetters.put(partition, foreign);
  metrics.setAside(foreign.length);
  log.warn({ partition, records: foreign.length }, 'records that are none of ours were set aside');
}

async function reportDoubles(deps: LoadLoopDeps, lease: Lease, events: number): Promise<void> {
  const { pool, log, metrics } = deps;
  metrics.doubled(events);
  // There a take-over writes an event again that may stand on the log, and the second one is left out here.
  if (deps.shared) return log.info({ events, partition: lease.partition }, 'events were left out as known');
  log.error({ events }, 'events stand on the log twice: the second ones are left out');
  const message = `${events} events stood on the log twice and were counted once.`;
  await raiseAlarm(pool, lease, { code: EVENT_TWICE, message });
}
