import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { type PlannedRequest, planRequests } from '../../support/generator.ts';
import { runLoad } from '../../support/load-run.ts';
import { sendAll } from '../../support/send.ts';
import { waitedForCoreMs } from '../../support/stopwatch.ts';
import { type JudgedInstance, startJudged } from '../judged-instance.ts';
import { restartDataPlane, whileStopped } from '../process-control.ts';
import {
  type FaultOptions,
  type FaultPromise,
  type Form,
  type Round,
  type RoundReport,
  roundOf,
} from '../promise.ts';
import { sendOptions, sendReplays } from '../workload.ts';
import { mustBeAnother } from './kill-scenario.ts';

const FIRST_RESPONSE_MS_MAX = 2_000;
/** Real events over HTTP. Of fewer the log is not clearly larger than what a start may read. */
const KEYS = { short: 1_000_000, long: 10_000_000 };

/**
 * Kills the data plane of an installation with many keys, and times how long nothing is acknowledged. Then
 * events from every part of its life are sent again: a start that is quick and knows no key has won nothing.
 */
export const quickRestart: FaultPromise = {
  promises: [11],
  title: 'the data plane is killed with many keys behind it',
  rounds: { short: 2, long: 10 },
  async open(options) {
    const { onEnd } = options;
    const opened = await startJudged({ LOG_LEVEL: 'warn' }, { connections: CONNECTIONS, onEnd });
    const full: FullInstance = { ...opened, known: [], keys: 0 };
    await whileStopped(opened.instance.pid('control side'), () => fill(full, options));
    // Which brings the record file up to the log, whatever is the distance of its checkpoints.
    await restartDataPlane(opened.instance);
    return { round: (round) => restartRound(full, round, options.form) };
  },
};

interface FullInstance extends JudgedInstance {
  /** Requests that will be repeated. */
  known: PlannedRequest[];
  /** That were acknowledged. */
  keys: number;
}

const FILL_MS = 2_000;
const CONNECTIONS = 6;
/** Sent and judged before each piece of the load, and after the last. */
const KNOWN_ITEMS = 200;

/** As fast as it is acknowledged. */
async function fill(full: FullInstance, { seed, form, say }: FaultOptions): Promise<void> {
  for (let tenths = 1; full.keys < KEYS[form]; ) {
    await getToKnow(full, seed);
    full.keys += await takeAll(full, FILL_MS);
    if (full.keys < (tenths * KEYS[form]) / 10) continue;
    say(`${full.keys} keys`);
    tenths = Math.floor((full.keys * 10) / KEYS[form]) + 1;
  }
  await getToKnow(full, seed);
}

/** Gives how many new keys were acknowledged. */
async function takeAll({ instance, judged: { world } }: JudgedInstance, durationMs: number): Promise<number> {
  const to = { origin: instance.origin, key: instance.keys().live.secret, connections: CONNECTIONS };
  const run = await runLoad({ ...to, world, nowMs: Date.now(), spreadMs: 600_000, durationMs });
  return run.acknowledged;
}

async function getToKnow({ judged, known }: FullInstance, seed: number): Promise<void> {
  const plan = { seed: roundOf(seed, known.length).seed, run: `known-${known.length}`, items: KNOWN_ITEMS };
  const requests = [...planRequests({ ...plan, nowMs: Date.now(), world: judged.world })];
  await sendAll(requests, sendOptions(judged));
  known.push(...requests);
}

/** Of a load before a kill: somewhere between two checkpoints, which are a second or two apart then. */
const BUSY_MS = { least: 500, more: 2_000 };
/** One that was ready for less is started again after a wait (supervised-child.ts), longer each time. */
const WELL_AFTER_MS = 1_500;

async function restartRound(
  full: FullInstance,
  { number, seed, random }: Round,
  form: Form,
): Promise<RoundReport> {
  const { instance, judged, known } = full;
  const pid = instance.pid('data plane');
  await pass(WELL_AFTER_MS);
  // These are on the log alone when it is killed.
  await getToKnow(full, seed);
  // The load of all that was filled in would be timed with it.
  const firstResponseMs = await whileStopped(instance.pid('control side'), async () => {
    // Every other kill finds as much on the log alone as a load in full leaves between two checkpoints.
    if (number % 2 === 1) full.keys += await takeAll(full, BUSY_MS.least + random.below(BUSY_MS.more));
    return await killAndTime(full, number);
  });
  mustBeAnother(instance, 'data plane', pid);
  const othersMs = Math.round(waitedForCoreMs(instance.pid('data plane')));
  // The short form runs concurrently with others, which slow a start; the long one has the machine alone.
  const late = firstResponseMs - (form === 'short' ? othersMs : 0) > FIRST_RESPONSE_MS_MAX;
  const took = `${firstResponseMs} ms, ${othersMs} ms of it others had the cores`;
  const problems = late ? [`with ${full.keys} keys the first acknowledgement came after ${took}`] : [];
  const mibRead = mebibytes(bytesReadBy(instance.pid('data plane')));
  const mibOfLog = mebibytes(logBytes(instance.dataDir));
  if (mibRead >= mibOfLog) problems.push(`the start read ${mibRead} MiB, and the log has ${mibOfLog}`);
  const replaysOfAcknowledged = await sendReplays(judged, known, random);
  problems.push(...judged.ledger.problems());
  const peaks = { keys: full.keys, firstResponseMs, othersMs, mibRead, mibOfLog };
  return { counts: { restarts: 1, replaysOfAcknowledged }, peaks, problems };
}

const SEND_EVERY_MS = 5;
const GIVEN_UP_MS = 120_000;

async function killAndTime({ instance, judged }: FullInstance, number: number): Promise<number> {
  const { api, world } = judged;
  const body = JSON.stringify({ customerId: world.customers[0]?.id, meterId: 'api_calls', value: 1 });
  const headers = { 'idempotency-key': `restart-${number}` };
  const killedAt = performance.now();
  await instance.kill('data plane');
  for (;;) {
    const response = await api.call('POST', '/usage/events', { body, headers }).catch(() => undefined);
    const passedMs = Math.round(performance.now() - killedAt);
    if (isAcknowledged(response?.status) || passedMs > GIVEN_UP_MS) return passedMs;
    await pass(SEND_EVERY_MS);
  }
}

/** 200 when an earlier try was stored and its response lost. */
function isAcknowledged(status: number | undefined): boolean {
  return status === 201 || status === 200;
}

/**
 * From its files, since it began. A start reads the record file, the last segment and what its checkpoint
 * does not cover: 61 MiB of 386. One that rebuilds the keys reads the whole log, and with some 1,400,000
 * keys it was still in time.
 */
function bytesReadBy(pid: number): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

function logBytes(dataDir: string): number {
  const folder = dataDirAt(dataDir).log;
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}
