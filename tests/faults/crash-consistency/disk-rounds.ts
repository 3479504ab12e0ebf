import { cpSync, lstatSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { Client, type DatabaseError } from 'pg';
import { poll } from '../../../infra/platform/poll.ts';
import type { ApiResponse } from '../../support/api.ts';
import { auditOf } from '../../support/audit-of.ts';
import { compareCounters, type Judged } from '../../support/compare.ts';
import { during } from '../../support/during.ts';
import { units } from '../../support/exact.ts';
import { batchRequestOf, type PlannedRequest } from '../../support/generator.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { lacking } from '../../support/machine-requirements.ts';
import { createRandom } from '../../support/random.ts';
import { type Outcome, sendOnce } from '../../support/send.ts';
import { mountSmallDisk, type SmallDisk } from '../../support/small-disk.ts';
import { type JudgedInstance, judgeAndStop, problemsOf, startJudged } from '../judged-instance.ts';
import type { FaultPromise, Round, RoundReport } from '../promise.ts';
import { postgresUrlOf } from '../query-postgres.ts';
import { sendReplays, startWorkload } from '../workload.ts';

interface DiskPlan extends Pick<FaultPromise, 'title'> {
  environment: Record<string, string>;
  /** What the filler leaves free. */
  bytesLeft: number;
  /** Whether the guard has to keep everything but usage going. */
  guarded: boolean;
}

const GIB = 1024 ** 3;

/** Rounds of a disk that fills up under the load and is given room again. */
function diskRounds({ title, environment, ...plan }: DiskPlan): FaultPromise {
  return {
    promises: [10],
    title,
    rounds: { short: 1, long: 10 },
    lacks: () => lacking('mounting'),
    async open({ form, onEnd }) {
      const disk = mountSmallDisk(3 * GIB);
      onEnd(() => disk.remove());
      const settings = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '20', ...environment };
      // Their own logs have no room either.
      const on = { dataDir: join(disk.path, 'data'), logFile: join(disk.path, 'log') };
      const opened = await startJudged(settings, { connections: 12, ...on });
      const scenario = { ...opened, disk, fullMs: FULL_MS[form], ...plan };
      onEnd((how) => closeOnDisk(scenario, how));
      return {
        round: (round) => fillOnce(scenario, round),
        // In the end every acknowledged event is on the log, and is stored, once.
        judge: () => judgeAndStop(scenario, []),
      };
    },
  };
}

export const diskGuarded = diskRounds({
  title: 'the disk is nearly full: the guard rejects usage',
  environment: {},
  bytesLeft: GIB / 2,
  guarded: true,
});

export const diskFull = diskRounds({
  title: 'the disk is full to the last byte, for Postgres and ClickHouse too',
  environment: { DISK_FREE_BYTES_MIN: '0' },
  bytesLeft: 0,
  guarded: false,
});

interface DiskScenario extends JudgedInstance, Pick<DiskPlan, 'bytesLeft' | 'guarded'> {
  disk: SmallDisk;
  fullMs: number;
}

/** Without the guard they may end. */
const BEHIND_THE_GUARD: readonly Role[] = ['control side', 'postgres'];
const FULL_MS = { short: 2_000, long: 10_000 };
const REJECTED = { timeoutMs: 10_000, everyMs: 20 };
const TAKEN = { timeoutMs: 60_000, everyMs: 20 };
const RECOVERED_MS_MAX = 5_000;
/** The newest are those at the edge of the full disk, and one after it. */
const PROBES_REPLAYED = 5;
const REPAIRED = { timeoutMs: 60_000, everyMs: 500 };

async function fillOnce(scenario: DiskScenario, { seed, run, random }: Round): Promise<RoundReport> {
  const { instance, disk, judged, guarded } = scenario;
  const roles: Role[] = ['supervisor', 'data plane', ...(guarded ? BEHIND_THE_GUARD : [])];
  const pids = () => roles.map((role) => `${role} ${instance.pid(role)}`);
  const before = pids();
  const postgres = instance.pid('postgres');
  const probes = createDiskProbes(judged, run);
  const workload = startWorkload(judged, { seed, run }, { senders: 4, batchItems: 100 });
  const { done, summary } = await during(workload, async () => {
    await acknowledges(probes);
    const full = await whileFull(scenario, probes).finally(() => disk.clear());
    const edge = workload.recent();
    return { ...full, edge, recoveredMs: await acknowledges(probes) };
  });
  const { problems, recoveredMs, walRejected, edge } = done;
  if (recoveredMs > RECOVERED_MS_MAX)
    problems.push(`the first 2xx came ${recoveredMs} ms after there was room`);
  if (!guarded) problems.push(...(await repairedParts(instance)));
  const after = pids();
  if (after.join() !== before.join()) problems.push(`${before} became ${after}`);
  const responded = [...edge, ...probes.acknowledged().slice(-PROBES_REPLAYED), ...workload.recent()];
  // What was acknowledged around the full disk is known to a process that begins with what is on it.
  await instance.kill('data plane');
  const replaysOfAcknowledged = await sendReplays(judged, responded, random);
  problems.push(...(await problemsOf(judged, compareCounters)));
  const endsOfPostgres = instance.pid('postgres') === postgres ? 0 : 1;
  // It ends when its log cannot be written, or rejects writes while it recovers: either shows a full disk.
  if (!guarded && endsOfPostgres + walRejected === 0) {
    problems.push('the full disk neither ended Postgres nor made it reject a write');
  }
  const counts = { fullDisks: 1, endsOfPostgres, walRejected, replaysOfAcknowledged, ...summary };
  return { counts, peaks: { recoveredMs }, problems };
}

/**
 * Requests that have to be written. A rejected request is repeated until it is acknowledged: at the edge of
 * a full disk its event may have been written before. The ledger records each response.
 */
function createDiskProbes(judged: Judged, run: string) {
  const acknowledged: PlannedRequest[] = [];
  let next = probeOf(judged, `${run}-probe-0`);
  return {
    async send(): Promise<Outcome & { response: ApiResponse }> {
      const { response, hasResponse } = await sendOnce(next, judged);
      if (response instanceof Error) throw response;
      if (hasResponse) {
        acknowledged.push(next);
        next = probeOf(judged, `${run}-probe-${acknowledged.length}`);
      }
      return { response, hasResponse };
    },
    /** Those that were acknowledged, newest last. */
    acknowledged: () => [...acknowledged],
  };
}

/** Too many to fit into the rest of a block. */
const PROBE_EVENTS = 200;

function probeOf({ world }: Judged, run: string): PlannedRequest {
  const nowMs = Date.now();
  const meant = { customer: 0, meter: 0, value: units('1'), occurredAtMs: nowMs, properties: [] };
  const events = Array.from({ length: PROBE_EVENTS }, (_, at) => ({ ...meant, key: `${run}-${at}` }));
  return batchRequestOf(events, { world, nowMs, random: createRandom(nowMs), responsesShowEvents: true });
}

type DiskProbes = ReturnType<typeof createDiskProbes>;

/** A part that the full disk damaged is detached by a new control side, and its rows are put back. */
async function repairedParts({ dataDir }: Instance): Promise<string[]> {
  let faults: string[] = [];
  await poll(async () => {
    faults = await auditOf(dataDir);
    return faults.length === 0 || undefined;
  }, REPAIRED);
  return faults;
}

/** Fills the disk and checks the responses until it has been full for a while. */
async function whileFull(scenario: DiskScenario, probes: DiskProbes) {
  const { disk, judged, bytesLeft, guarded, fullMs } = scenario;
  const problems: string[] = [];
  let walRejected = 0;
  disk.fill(bytesLeft);
  const rejected = await poll(async () => !(await probes.send()).hasResponse || undefined, REJECTED);
  if (!rejected) problems.push(`nothing was rejected ${REJECTED.timeoutMs} ms after the disk was full`);
  for (const until = performance.now() + fullMs; performance.now() < until; await pass(20)) {
    disk.fill(bytesLeft);
    if (!guarded && (await wantWal(scenario.instance)) === 'rejected') walRejected++;
    if (guarded) problems.push(...(await guardFaults(judged, probes)));
  }
  return { problems: [...new Set(problems)], walRejected };
}

/** With the guard every outcome is certain. */
async function guardFaults(judged: Judged, probes: DiskProbes): Promise<string[]> {
  const { status, body, headers } = (await probes.send()).response;
  const code = ((body ?? {}) as { error?: { code: string } }).error?.code;
  const retryAfter = headers['retry-after'];
  const isRight = status === 503 && code === 'unavailable' && Number(retryAfter) > 0;
  const path = `/usage/${judged.world.customers[0]?.id}/api_calls?consistency=eventual`;
  const counter = await judged.api.call('GET', path);
  return [
    ...(isRight ? [] : [`usage returned ${status} ${code}, Retry-After ${retryAfter}`]),
    ...(counter.status === 200 ? [] : [`a counter returned ${counter.status}`]),
  ];
}

/** The SQLSTATE of a server whose sessions all ended with one that could not write (`cannot_connect_now`). */
const RECOVERS = '57P03';

/** What Postgres writes for this it has no room for, which ends the server: it has to come back by itself. */
async function wantWal(instance: Instance): Promise<'written' | 'rejected' | 'unavailable'> {
  const connectionString = postgresUrlOf(instance);
  const client = new Client({ connectionString, connectionTimeoutMillis: 500, query_timeout: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    return (error as DatabaseError).code === RECOVERS ? 'rejected' : 'unavailable';
  }
  const requested = client.query("SELECT pg_logical_emit_message(false, 'fault-test', repeat('x', 8000000))");
  const outcome = await requested.then(
    () => 'written' as const,
    () => 'rejected' as const,
  );
  client.end().catch(() => undefined);
  return outcome;
}

/** Milliseconds until new events are acknowledged. */
async function acknowledges(probes: DiskProbes): Promise<number> {
  const startedAt = performance.now();
  const isTaken = async () => (await probes.send()).hasResponse || undefined;
  if (!(await poll(isTaken, TAKEN))) throw new Error('usage is still rejected though there is room');
  return Math.round(performance.now() - startedAt);
}

async function closeOnDisk(
  { instance, disk, close }: DiskScenario,
  { keep }: { keep: boolean },
): Promise<string | undefined> {
  // No process can stop in order on a full disk, and the filler is not needed any more.
  disk.clear();
  const left = keep ? mkdtempSync(join(tmpdir(), 'metergate-left-')) : undefined;
  try {
    await instance.stop().catch(() => undefined); // it may have ended: `close` ends what is left
    if (left === undefined) return undefined;
    // Sockets cannot be copied, and one that is left shows nothing.
    cpSync(disk.path, left, { recursive: true, filter: (from) => !lstatSync(from).isSocket() });
    cpSync(await instance.leave(), left, { recursive: true });
    return left;
  } finally {
    await close({ keep: false });
  }
}
