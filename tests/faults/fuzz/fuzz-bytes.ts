import { Readable } from 'node:stream';
import { Client, type Dispatcher } from 'undici';
import { poll } from '../../../infra/platform/poll.ts';
import { compareCounters } from '../../support/compare.ts';
import type { Instance, Role } from '../../support/instance.ts';
import { makeWorld } from '../../support/make-world.ts';
import { openInstance } from '../../support/open-instance.ts';
import type { FaultOptions, FaultPromise, Round, RoundReport } from '../promise.ts';
import { createFuzzJudge, type FuzzJudge } from './fuzz-judge.ts';
import { type FuzzRequest, isUsage, type PlaneKeys, soundRequest, TARGET_PATH } from './fuzz-request.ts';
import { fuzzRequests } from './fuzz-requests.ts';
import { abuseSockets, announceBodies, residentMib, type SocketsReport } from './fuzz-sockets.ts';
import { jsonCaseRequests } from './json-cases.ts';

/** Promise 7: whatever bytes come, no 5xx, no exit, no trace of the inside, and nothing stored by mistake. */
export const fuzzBytes: FaultPromise = {
  promises: [7],
  title: 'fuzz bytes come in bodies and on sockets',
  rounds: { short: 1, long: 20 },
  async open(options) {
    const scenario = await openScenario(options);
    const { api, judge, world } = scenario;
    return {
      round: (round) => fuzzRound(scenario, round),
      judge: async () => ({
        counts: { eventsCountedExactly: judge.ledger.size() },
        problems: await compareCounters({ api, ledger: judge.ledger, world }),
      }),
    };
  },
};

const BODIES_A_ROUND = 5_000;
const CONNECTIONS = 4;
const CLIENTS_GONE_A_ROUND = { short: 300, long: 1_000 };
/** It takes a quarter of a minute until the slow ones are closed. */
const SLOW_EVERY = 5;
/** The error log must not fill up when thousands of bodies are rejected. */
const SETTINGS = { LOG_LEVEL: 'warn' };

type Scenario = Awaited<ReturnType<typeof openScenario>>;

async function openScenario({ form, onEnd }: FaultOptions) {
  const { instance, api, close } = await openInstance(SETTINGS, { connections: 3 });
  onEnd(close);
  // The judge adds the meters that come to be. Requests are planned with those that were there at first: so
  // the same seed gives the same ones.
  const world = await makeWorld(api);
  const planned = { customers: world.customers, meters: [...world.meters] };
  const judge = createFuzzJudge(world);
  const { live, test } = instance.keys();
  // The control plane creates objects in another environment: none of them is a customer here.
  const keys = { usage: live.secret, control: test.secret };
  const send = { origin: instance.origin, keys, judge, connections: CONNECTIONS };
  return { instance, api, world, planned, judge, send, form };
}

async function fuzzRound(scenario: Scenario, { number, seed, run }: Round): Promise<RoundReport> {
  const { instance, judge, world, planned, send, form } = scenario;
  const before = pidsOf(instance);
  const nowMs = Date.now();
  const customer = world.customers[0]?.id ?? '';
  const bodies = fuzzRequests({ seed, count: BODIES_A_ROUND, run, nowMs, world: planned });
  const slow = form === 'long' && number % SLOW_EVERY === 0;
  const sockets = { ...send, seed, run, customer, count: CLIENTS_GONE_A_ROUND[form], slow };
  const [[ofBodies, ofCases], ofSockets] = await Promise.all([
    sendBoth(bodies, jsonCaseRequests({ run, customer, nowMs }), send),
    abuseSockets(sockets),
  ]);
  const problems = [
    ...[...ofBodies.problems, ...ofCases.problems, ...ofSockets.problems],
    ...(await sendAgain(scenario, ofSockets)),
    ...(await announceBodies(instance.origin, send.keys.usage, instance.pid('data plane'))),
    ...(await isAsBefore(instance, before)),
    ...judge.ledger.problems(),
  ];
  const returned = Object.entries(judge.takeCounts()).map(([outcome, count]) => [
    `returned ${outcome}`,
    count,
  ]);
  const sent = { bodies: ofBodies.responded, jsonCaseBodies: ofCases.responded };
  return {
    counts: { ...sent, ...ofSockets.counts, ...Object.fromEntries(returned) },
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
    const event = { customerId, meterId: 'tokens', value: 1 };
    const events = some.map((idempotencyKey) => ({ idempotencyKey, ...event }));
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

interface SendFuzzOptions {
  origin: string;
  keys: PlaneKeys;
  judge: FuzzJudge;
  connections: number;
}

const RESPONSE_TIMEOUT_MS = 20_000;
const ENDS_WITHIN = { timeoutMs: 20_000, everyMs: 1 };
const PROBLEMS_MAX = 10;

interface FuzzReport {
  /** Requests whose response was judged. */
  responded: number;
  /** A sentence for every response that is wrong, or did not come. */
  problems: string[];
}

/** Sends each request on a connection that outlives it, unless it is in chunks. Stops after ten problems. */
async function sendFuzz(requests: Iterable<FuzzRequest>, options: SendFuzzOptions): Promise<FuzzReport> {
  const source = requests[Symbol.iterator]();
  const report: FuzzReport = { responded: 0, problems: [] };
  const connection = async (): Promise<void> => {
    const line = openLine(options, () => report.responded++);
    try {
      for (let next = source.next(); !next.done; next = source.next()) {
        const problem = await line.problem(next.value);
        if (problem !== undefined) report.problems.push(problem);
        if (report.problems.length >= PROBLEMS_MAX) break;
      }
    } finally {
      await line.close();
    }
  };
  await Promise.all(Array.from({ length: options.connections }, connection));
  return report;
}

function openLine({ origin, keys, judge }: SendFuzzOptions, onResponse: () => void) {
  const client = new Client(origin, {
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
  });
  let closings = 0;
  client.on('disconnect', () => {
    closings += 1;
  });

  async function problem(request: FuzzRequest): Promise<string | undefined> {
    const judgeResponse = judge.expect(request);
    const before = closings;
    const requestedAtMs = Date.now();
    const response = await client
      .request(asSent(request, keys))
      .then(whole, (error: unknown) => error as Error);
    if (response instanceof Error) return described(request, `receives no response: ${response.message}`);
    onResponse();
    const fault = judgeResponse({ ...response, requestedAtMs, respondedAtMs: Date.now() });
    if (fault !== undefined) return described(request, fault);
    // Nothing is read after a last chunk, and the response says so. It may have ended by now.
    if (request.chunked && response.headers.connection === 'close') {
      const ended = await poll(() => closings > before || undefined, ENDS_WITHIN);
      return ended ? undefined : described(request, 'does not end the connection, as its response says');
    }
    return closings === before ? undefined : described(request, 'costs the connection');
  }

  return { problem, close: () => client.destroy() };
}

function asSent(request: FuzzRequest, keys: PlaneKeys): Dispatcher.RequestOptions {
  const { target, includeEvents, headers, body, chunked } = request;
  const key = isUsage(target) ? keys.usage : keys.control;
  return {
    method: 'POST',
    path: `${TARGET_PATH[target]}${includeEvents ? '?include=events' : ''}`,
    headers: { ...headers, authorization: `Bearer ${key}` },
    body: chunked ? Readable.from(inPieces(body)) : body,
  };
}

const PIECES = 3;

async function* inPieces(body: Buffer): AsyncGenerator<Buffer> {
  const size = Math.ceil(body.length / PIECES);
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

async function whole({ statusCode, headers, body }: Dispatcher.ResponseData) {
  return { status: statusCode, headers, text: await body.text() };
}

const SHOWN_CHARS = 160;

function described({ what, target, headers, body }: FuzzRequest, fault: string): string {
  const begins = JSON.stringify(body.toString('latin1', 0, SHOWN_CHARS));
  const head = JSON.stringify({ ...headers, target });
  return `${what}: ${body.length} bytes ${begins} with ${head} ${fault}`;
}
