import { poll } from '../../../infra/platform/poll.ts';
import { type Api, createApi } from '../../support/api.ts';
import { compareCounters } from '../../support/compare.ts';
import { type Instance, type Role, startInstance } from '../../support/instance.ts';
import { makeWorld } from '../../support/make-world.ts';
import type { World } from '../../support/world.ts';
import {
  type FaultOptions,
  type FaultPromise,
  type FaultRounds,
  type RoundReport,
  roundSeed,
} from '../promise.ts';
import { createFuzzJudge, type FuzzJudge } from './fuzz-judge.ts';
import { type FuzzRequest, soundRequest } from './fuzz-request.ts';
import { fuzzRequests } from './fuzz-requests.ts';
import { abuseSockets, announceBodies, residentMib, type SocketsReport } from './fuzz-sockets.ts';
import { jsonCaseRequests } from './json-case-requests.ts';
import { type FuzzReport, type SendFuzzOptions, sendFuzz } from './send-fuzz.ts';

/** Promise 7: whatever bytes come, no 5xx, no exit, no trace of the inside, and nothing stored by mistake. */
export const fuzzBytes: FaultPromise = {
  promises: [7],
  title: 'fuzz bytes come in bodies and on sockets',
  rounds: { short: 1, long: 20 },
  open: openRounds,
};

const BODIES_A_ROUND = 5_000;
const CONNECTIONS = 4;
const CLIENTS_GONE_A_ROUND = { short: 300, long: 1_000 };
/** It takes a quarter of a minute until the slow ones are closed. */
const SLOW_EVERY = 5;
/** The error log must not fill up when thousands of bodies are rejected. */
const SETTINGS = { LOG_LEVEL: 'warn' };

interface Scenario {
  instance: Instance;
  api: Api;
  /** The judge adds the meters that come to be. */
  world: World;
  /** As it was at first: so the same seed gives the same requests. */
  planned: World;
  judge: FuzzJudge;
  send: SendFuzzOptions;
  form: FaultOptions['form'];
}

async function openRounds({ seed, form }: FaultOptions): Promise<FaultRounds> {
  const instance = await startInstance(SETTINGS);
  const scenario = await setScenario(instance, form).catch(async (error: unknown) => {
    await instance.remove();
    throw error;
  });
  const { api, judge, world } = scenario;
  return {
    round: (number) => fuzzRound(scenario, number, roundSeed(seed, number)),
    judge: async () => ({
      counts: { eventsCountedExactly: judge.ledger.size() },
      problems: await compareCounters({ api, ledger: judge.ledger, world }),
    }),
    async close({ keep }) {
      await api.close();
      if (keep) return instance.leave();
      await instance.remove();
      return undefined;
    },
  };
}

async function setScenario(instance: Instance, form: FaultOptions['form']): Promise<Scenario> {
  const { origin } = instance;
  const { live, test } = instance.keys();
  const api = createApi({ origin, key: live.secret, connections: 3 });
  const world = await makeWorld(api);
  const planned = { customers: world.customers, meters: [...world.meters] };
  const judge = createFuzzJudge(world);
  // The control plane creates objects in another environment: none of them is a customer here.
  const keys = { usage: live.secret, control: test.secret };
  return {
    instance,
    api,
    world,
    planned,
    judge,
    send: { origin, keys, judge, connections: CONNECTIONS },
    form,
  };
}

async function fuzzRound(scenario: Scenario, number: number, seed: number): Promise<RoundReport> {
  const { instance, judge, world, planned, send, form } = scenario;
  const before = pidsOf(instance);
  const run = `h${number}`;
  const nowMs = Date.now();
  const customer = world.customers[0]?.id ?? '';
  const bodies = fuzzRequests({ seed, count: BODIES_A_ROUND, run, nowMs, world: planned });
  const slow = form === 'long' && number % SLOW_EVERY === 0;
  const sockets = { ...send, seed, run, customer, count: CLIENTS_GONE_A_ROUND[form], slow };
  const [[ofBodies, ofCases], ofSockets] = await Promise.all([
    sendBoth(bodies, jsonCaseRequests({ run, customer, nowMs }), send),
    abuseSockets(sockets),
  ]);
  const problems = [...ofBodies.problems, ...ofCases.problems, ...ofSockets.problems];
  problems.push(...(await sendAgain(scenario, ofSockets)));
  problems.push(...(await announceBodies(instance.origin, send.keys.usage, instance.pid('data plane'))));
  problems.push(...(await isAsBefore(instance, before)), ...judge.ledger.problems());
  return {
    counts: {
      bodies: ofBodies.responded,
      jsonCaseBodies: ofCases.responded,
      ...ofSockets.counts,
      ...responsesOf(judge),
    },
    peaks: { dataPlaneMib: Math.round(residentMib(instance.pid('data plane'))) },
    problems,
  };
}

/** One after the other, so that each is counted for itself. */
async function sendBoth(
  bodies: Iterable<FuzzRequest>,
  cases: Iterable<FuzzRequest>,
  send: SendFuzzOptions,
): Promise<[FuzzReport, FuzzReport]> {
  return [await sendFuzz(bodies, send), await sendFuzz(cases, send)];
}

/**
 * What was rejected, or never requested, has left its key free; what a client left behind is stored
 * once, or not at all where it was not whole.
 */
async function sendAgain({ judge, world, send }: Scenario, sockets: SocketsReport): Promise<string[]> {
  const { brokenOff, smuggledKeys } = sockets;
  for (const { request, wasWhole } of brokenOff) if (wasWhole) judge.left(request);
  const again = brokenOff.map(({ request }) => request);
  const { problems } = await sendFuzz(again, send);
  const keys = [...judge.takeRejectedKeys(), ...smuggledKeys];
  const customer = world.customers[1]?.id ?? '';
  return [...problems, ...(await sendFuzz(soundOnes(keys, customer), send)).problems];
}

const BATCH_ITEMS = 100;

function* soundOnes(keys: string[], customerId: string): Generator<FuzzRequest> {
  for (let at = 0; at < keys.length; at += BATCH_ITEMS) {
    const some = keys.slice(at, at + BATCH_ITEMS);
    const events = some.map((idempotencyKey) => ({
      idempotencyKey,
      customerId,
      meterId: 'tokens',
      value: 1,
    }));
    yield soundRequest('batch', JSON.stringify({ events }), { what: 'a free key', keys: some });
  }
}

const CALM_WITHIN_MS = 15_000;

/** The same processes, nothing in flight, and no error of ours in their log. */
async function isAsBefore(instance: Instance, pids: string): Promise<string[]> {
  const problems: string[] = [];
  if (pidsOf(instance) !== pids) problems.push('a process ended and was restarted');
  const isCalm = async () => (await inFlightBytes(instance.origin)) === 0 || undefined;
  const calm = await poll(isCalm, { timeoutMs: CALM_WITHIN_MS, everyMs: 20 });
  if (!calm) problems.push(`${await inFlightBytes(instance.origin)} bytes are still in flight`);
  const errors = instance.errors().slice(0, ERRORS_SHOWN);
  return [...problems, ...errors.map((line) => `the log says ${line}`)];
}

const ERRORS_SHOWN = 3;
const PAGE_TIMEOUT_MS = 10_000;

async function inFlightBytes(origin: string): Promise<number> {
  const signal = AbortSignal.timeout(PAGE_TIMEOUT_MS);
  const text = await (await fetch(`${origin}/metrics`, { signal })).text();
  return Number(/^metergate_usage_in_flight_bytes\S* (\d+)/m.exec(text)?.[1]);
}

const ROLES: readonly Role[] = ['supervisor', 'data plane', 'control side', 'postgres'];

function pidsOf(instance: Instance): string {
  return ROLES.map((role) => `${role} ${instance.pid(role)}`).join();
}

function responsesOf(judge: FuzzJudge): Record<string, number> {
  const counts = Object.entries(judge.takeCounts());
  return Object.fromEntries(counts.map(([outcome, count]) => [`returned ${outcome}`, count]));
}
