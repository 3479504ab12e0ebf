import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createCloser } from '../../infra/platform/closer.ts';
import type { FaultOptions, FaultPromise, FaultRounds, Round, RoundReport } from '../faults/promise.ts';
import { type Api, callDone } from '../support/api.ts';
import { endChild } from '../support/child-end.ts';
import { numberText } from '../support/exact.ts';
import { inTime, seenInTime } from '../support/in-time.ts';
import { openInstance } from '../support/open-instance.ts';
import { type ArmedProxy, openHop } from '../support/proxy/armed-proxy.ts';
import { drawFaults } from '../support/proxy/draw-faults.ts';
import type { Fault } from '../support/proxy/tcp-proxy.ts';
import { SILENT } from '../support/silent-log.ts';
import { waitUntilRead } from '../support/wait-until-counted.ts';

/** A client in one language: how its program is run that tracks until it is killed. */
export interface TrackingClient {
  name: string;
  command: readonly string[];
}

/**
 * A program that tracks into a spool is killed at random times, behind a proxy that loses, delays and cuts;
 * its successor takes over what it left. In the end each event that `track` took is counted once.
 */
export function clientKilled({ name, command }: TrackingClient): FaultPromise {
  return {
    promises: [23],
    name: `client-${name}`,
    title: `a program that tracks with the ${name} client is killed`,
    rounds: { short: 6, long: 200 },
    open: (options) => openRounds(command, options),
  };
}

/** By turns: mostly one at a time, and sometimes two that share the folder. */
const AT_ONCE = [1, 2, 1];
const TRACKING_MS_MAX = 400;
const STARTED = { timeoutMs: 30_000, everyMs: 2 };
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
  const { child, ledger } = start(scenario, run);
  const hasBegun = () => (existsSync(ledger) && statSync(ledger).size > 0) || undefined;
  await seenInTime(hasBegun, STARTED, 'its first event');
  await pause(afterMs);
  await endChild(child, 'SIGKILL');
  const count = numbersIn(ledger);
  scenario.ledger.set(run, count);
  return count;
}

/** Whole lines: the kill may cut off the last one. */
function numbersIn(ledger: string): number {
  return readFileSync(ledger, 'utf8').split('\n').length - 1;
}

function start({ environment, folder, command }: Scenario, run: string, more: Record<string, string> = {}) {
  const [program = '', ...args] = command;
  const ledger = join(folder, `${run}.ledger`);
  const env = { ...process.env, ...environment, ...more, TRACK_LEDGER: ledger, TRACK_RUN: run };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  return { child, ledger, output: outputOf(child) };
}

function outputOf(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return () => output;
}

/** One more process drains what is left. Then the counters are compared with the ledger, run by run. */
async function judge(scenario: Scenario): Promise<RoundReport> {
  const { api, proxy, environment, ledger } = scenario;
  proxy.arm(undefined);
  const { child, output } = start(scenario, 'last', { TRACK_COUNT: '100' });
  const [exitCode] = await inTime(once(child, 'exit'), DRAINED_MS, `the last process: ${output()}`);
  if (exitCode !== 0)
    return { counts: {}, problems: [`the last process ended with ${exitCode}: ${output()}`] };
  ledger.set('last', 100);
  await waitUntilRead(api, '/usage/tracked/tracked', COUNTED_MS);
  const problems: string[] = [];
  const items = await breakdown(api);
  let extra = 0;
  for (const [run, count] of ledger) {
    const total = items.get(run) ?? 0;
    items.delete(run);
    // One more was in the spool when the process was killed before it wrote the ledger.
    if (total === sumTo(count + 1) && run !== 'last') extra += 1;
    else if (total !== sumTo(count))
      problems.push(`${run}: the sum of ${count} events is ${total}, not ${sumTo(count)}`);
  }
  problems.push(...[...items.keys()].map((run) => `${run} was never tracked`));
  const left = readdirSync(environment.TRACK_SPOOL ?? '');
  if (left.length > 0) problems.push(`the spool has ${left.join(', ')}`);
  const { sent = 0, duplicates = 0 } = JSON.parse(output().trim().split('\n').at(-1) ?? '{}');
  return {
    counts: { sentByTheLast: sent, duplicatesOfTheLast: duplicates, beyondTheLedger: extra },
    problems,
  };
}

function sumTo(count: number): number {
  return (count * (count + 1)) / 2;
}

const RUNS_MAX = 1_000;

/** The sum of each run's values. */
async function breakdown(api: Api): Promise<Map<string, number>> {
  const path = `/usage/tracked/tracked/breakdown?dimension=run&window=all&consistency=strong&limit=${RUNS_MAX}`;
  const body = (await callDone(api, 'GET', path)) as unknown as {
    breakdown: Array<{ value: string; total: unknown }>;
  };
  return new Map(body.breakdown.map(({ value, total }) => [value, Number(numberText(total))]));
}
