import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createCloser } from '../../infra/platform/closer.ts';
import type { FaultOptions, FaultPromise, FaultRounds, Round, RoundReport } from '../faults/promise.ts';
import { type Api, callDone } from '../support/api.ts';
import { numberText } from '../support/exact.ts';
import { openInstance } from '../support/open-instance.ts';
import { type ArmedProxy, openHop } from '../support/proxy/armed-proxy.ts';
import { drawFaults } from '../support/proxy/draw-faults.ts';
import type { Fault } from '../support/proxy/tcp-proxy.ts';
import { SILENT } from '../support/silent-log.ts';
import { waitUntilRead } from '../support/wait-until-counted.ts';
import { startTracking, type TrackingClient } from './tracking-process.ts';

/**
 * A program that tracks into a spool is killed at random times, behind a proxy that loses, delays and cuts;
 * its successor takes over what it left. In the end each event that `track` took is counted once.
 */
export function clientKilled({ name, command }: TrackingClient): FaultPromise {
  return {
    promises: [23],
    name: `client-${name}`,
    title: `a program that tracks with the ${name} client is killed`,
    rounds: { short: 4, long: 200 },
    open: (options) => openRounds(command, options),
  };
}

/** By turns: mostly one at a time, and sometimes two that share the folder. */
const AT_ONCE = [1, 2, 1];
const TRACKING_MS_MAX = 400;
const DRAINED_MS = 120_000;
const COUNTED_MS = 120_000;
const FAULT_SHARE = 0.4;
const FAULTS: readonly Fault[] = [
  { kind: 'lose' },
  { kind: 'swallow' },
  { kind: 'swallow' },
  { kind: 'cut', bytes: 40 },
  { kind: 'delay', ms: 30 },
];

interface Scenario {
  api: Api;
  proxy: ArmedProxy;
  /** Everything but the kills. */
  environment: Record<string, string>;
  folder: string;
  command: readonly string[];
  /** How many events of each run the ledger has. */
  ledger: Map<string, number>;
}

async function openRounds(command: readonly string[], { onEnd }: FaultOptions): Promise<FaultRounds> {
  const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 2 });
  onEnd(close);
  await callDone(api, 'POST', '/customers', { name: 'Tracked', email: 'a@b.example', externalId: 'tracked' });
  await callDone(api, 'POST', '/meters', { key: 'tracked', name: 'Tracked', aggregation: 'sum' });
  const closer = createCloser(SILENT);
  onEnd(() => closer.close());
  const port = Number(new URL(instance.origin).port);
  const proxy = await openHop(closer, () => ({ host: '127.0.0.1', port }));
  const folder = mkdtempSync(join(tmpdir(), 'metergate-tracked-'));
  onEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const environment = {
    TRACK_URL: `http://127.0.0.1:${proxy.port}`,
    TRACK_KEY: instance.keys().live.secret,
    TRACK_SPOOL: join(folder, 'spool'),
  };
  const scenario = { api, proxy, environment, folder, command, ledger: new Map<string, number>() };
  return { round: (round) => killRound(scenario, round), judge: () => judge(scenario) };
}

async function killRound(scenario: Scenario, { number, random, run }: Round): Promise<RoundReport> {
  const { proxy } = scenario;
  const isEnough = () => false;
  proxy.arm(drawFaults({ random, share: FAULT_SHARE, kinds: FAULTS, isEnough }));
  const before = Object.values(proxy.done()).reduce((sum, count) => sum + count, 0);
  const names = Array.from({ length: AT_ONCE[number % AT_ONCE.length] ?? 1 }, (_, at) => `${run}-${at}`);
  const afterMs = names.map(() => random.below(TRACKING_MS_MAX));
  const tracked = await Promise.all(names.map((name, at) => trackAndKill(scenario, name, afterMs[at] ?? 0)));
  const faults = Object.values(proxy.done()).reduce((sum, count) => sum + count, 0) - before;
  const eventsTracked = tracked.reduce((sum, count) => sum + count, 0);
  return { counts: { kills: names.length, eventsTracked, faults }, problems: [] };
}

/** Resolves with how many events it had tracked. */
async function trackAndKill(scenario: Scenario, run: string, afterMs: number): Promise<number> {
  const tracking = startTracking({ ...scenario, run });
  await tracking.hasTracked(1);
  await pause(afterMs);
  const count = await tracking.kill();
  // A mutant gives notice of itself there too.
  if (/rejected|Error/.test(tracking.output())) throw new Error(`${run}: ${tracking.output()}`);
  scenario.ledger.set(run, count);
  return count;
}

/** One more process drains what is left. Then the counters are compared with the ledger, run by run. */
async function judge(scenario: Scenario): Promise<RoundReport> {
  const { api, proxy, ledger } = scenario;
  proxy.arm(undefined);
  const environment: Record<string, string> = {
    ...scenario.environment,
    TRACK_COUNT: String(LAST_COUNT),
  };
  const last = await startTracking({ ...scenario, environment, run: LAST }).ended(DRAINED_MS);
  ledger.set(LAST, LAST_COUNT);
  await waitUntilRead(api, '/usage/tracked/tracked', COUNTED_MS);
  const totals = await totalsByRun(api);
  const { problems, beyondTheLedger } = compare(ledger, totals);
  const left = readdirSync(environment.TRACK_SPOOL ?? '');
  if (left.length > 0) problems.push(`the spool has ${left.join(', ')}`);
  const { sent = 0, duplicates = 0 } = last;
  return { counts: { sentByTheLast: sent, duplicatesOfTheLast: duplicates, beyondTheLedger }, problems };
}

const LAST = 'last';
const LAST_COUNT = 100;

function compare(ledger: ReadonlyMap<string, number>, totals: ReadonlyMap<string, number>) {
  const problems = [...totals.keys()]
    .filter((run) => !ledger.has(run))
    .map((run) => `${run} was never tracked`);
  let beyondTheLedger = 0;
  for (const [run, count] of ledger) {
    const total = totals.get(run) ?? 0;
    // One more was in the spool when its process was killed before it wrote the ledger.
    if (total === sumTo(count + 1) && run !== LAST) beyondTheLedger += 1;
    else if (total !== sumTo(count)) {
      problems.push(`${run}: the sum of ${count} events is ${total} and not ${sumTo(count)}`);
    }
  }
  return { problems, beyondTheLedger };
}

function sumTo(count: number): number {
  return (count * (count + 1)) / 2;
}

const RUNS_MAX = 1_000;

/** The sum of each run's values. */
async function totalsByRun(api: Api): Promise<Map<string, number>> {
  const query = `dimension=run&window=all&consistency=strong&limit=${RUNS_MAX}`;
  const path = `/usage/tracked/tracked/breakdown?${query}`;
  const body = (await callDone(api, 'GET', path)) as unknown as {
    breakdown: Array<{ value: string; total: unknown }>;
  };
  return new Map(body.breakdown.map(({ value, total }) => [value, Number(numberText(total))]));
}
