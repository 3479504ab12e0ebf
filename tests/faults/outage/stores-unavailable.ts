import { setTimeout as pass } from 'node:timers/promises';
import { poll } from '../../../infra/platform/poll.ts';
import { compareBreakdowns, compareCounters, type Judged } from '../../support/compare.ts';
import { during } from '../../support/during.ts';
import { problemsOf } from '../judged-instance.ts';
import type { FaultPromise, Form, Round, RoundReport } from '../promise.ts';
import {
  type KnownLoad,
  pauseFor,
  responsesMin,
  SILENCE_MS_MAX,
  silenceOf,
  startKnownLoad,
} from './known-load.ts';
import {
  judgeLongOutage,
  LONG_OUTAGE_MS,
  type Patience,
  type Probe,
  probesOf,
  sendProbe,
} from './outage-probes.ts';
import { compareServed, type OutageScenario, openOutageScenario, type StoreName } from './outage-scenario.ts';
import { createSizes, type Sizes } from './process-sizes.ts';

/** Promise 8: a store that is dead, or hangs, holds up nothing that can be done without it. */
export const storesUnavailable: FaultPromise = {
  promises: [8],
  title: 'ClickHouse and Postgres are unavailable, killed and hanging',
  rounds: { short: 4, long: 9 },
  async open(options) {
    const { form, say } = options;
    const scenario = await openOutageScenario(options);
    return {
      round(round) {
        const outage = outageOf(round, form);
        say(`${outage.store} ${outage.how} for ${Math.round(outage.forMs / 1000)} s`);
        return outageRound(scenario, outage, round);
      },
      judge: () => judge(scenario, form),
    };
  },
};

interface Outage {
  store: StoreName;
  how: 'killed' | 'hanging';
  forMs: number;
  patience: Patience;
}

const STORES: readonly StoreName[] = ['warehouse', 'postgres'];

/** Longer than the load may be silent: else one that stops with the store would go unseen. */
const SHORT_OUTAGE_MS = SILENCE_MS_MAX + 1_000;

/** The last of the long form lasts longer than a key is trusted while Postgres is unavailable. */
function outageOf({ number, random }: Round, form: Form): Outage {
  // Each store is killed, and then hangs.
  const store = STORES[Math.floor(number / 2) % STORES.length] ?? 'postgres';
  const how = number % 2 === 0 ? 'killed' : 'hanging';
  if (form === 'short') {
    return { store, how, forMs: SHORT_OUTAGE_MS, patience: how === 'hanging' ? 'strong' : 'none' };
  }
  if (number === storesUnavailable.rounds.long - 1)
    return { store: 'postgres', how: 'hanging', forMs: LONG_OUTAGE_MS, patience: 'ages' };
  return { store, how, forMs: 60_000 + random.below(30_000), patience: 'all' };
}

/** A busy machine may need as long to start a store as the outages of seconds last. */
const CAUGHT_UP_MS_LEAST = 20_000;

async function outageRound(scenario: OutageScenario, outage: Outage, round: Round): Promise<RoundReport> {
  const { instance, judged } = scenario;
  const size = createSizes({
    DataPlane: instance.pid('data plane'),
    ControlSide: instance.pid('control side'),
  });
  const load = await startKnownLoad(judged, round, pauseFor(outage.forMs));
  const { done } = await during(load, () => {
    return whileUnavailable(scenario, outage, (outageAt) =>
      watchOutage(scenario, outage, { load, outageAt, size }),
    );
  });
  const { seen, outageMs } = done;
  const withinMs = Math.max(2 * outageMs, CAUGHT_UP_MS_LEAST);
  const caughtUpMs = await untilCounted(scenario, withinMs);
  const problems = [
    ...seen.problems,
    ...size.problems(),
    ...(await problemsOf(judged, compareCounters, compareServed(scenario))),
  ];
  const peaks: Record<string, number> = { ...seen.peaks, ...size.peaks };
  if (caughtUpMs === undefined)
    problems.push(`after an outage of ${outageMs} ms the lag is not 0 within ${withinMs} ms`);
  else peaks[`caughtUpMsOf${NAMES[outage.store]}`] = caughtUpMs;
  const counts = { requestsAcknowledgedMeanwhile: seen.acknowledged, outages: 1 };
  return { counts, peaks, problems };
}

/** The store comes back whatever becomes of the watch. */
async function whileUnavailable<T>(
  { stores }: OutageScenario,
  { store: name, how }: Outage,
  watch: (outageAt: number) => Promise<T>,
): Promise<{ seen: T; outageMs: number }> {
  const store = stores[name];
  if (how === 'killed') await store.kill();
  else store.freeze();
  const outageAt = performance.now();
  const seen = await watch(outageAt).finally(() => (how === 'killed' ? store.start() : store.thaw()));
  return { seen, outageMs: Math.round(performance.now() - outageAt) };
}

const NAMES: Record<StoreName, string> = { warehouse: 'Warehouse', postgres: 'Postgres' };
const PROBE_PAUSE_MS = 500;
const PROBLEMS_MAX = 10;

/** Repeats every probe until the outage is over and each has its response. */
async function watchOutage(
  scenario: OutageScenario,
  outage: Outage,
  { load, outageAt, size }: { load: KnownLoad; outageAt: number; size: Sizes },
) {
  const respondedBefore = load.responded();
  const problems: string[] = [];
  const peaks: Record<string, number> = {};
  const isOver = () => performance.now() - outageAt > outage.forMs;

  async function repeat(probe: Probe): Promise<void> {
    do {
      const isConclusive = performance.now() - outageAt >= (probe.ageMsMax ?? 0);
      const { problem, tookMs } = await sendProbe(scenario, probe);
      if (problem !== undefined && isConclusive && problems.length < PROBLEMS_MAX) problems.push(problem);
      const name = `ms of ${probe.name}`;
      peaks[name] = Math.max(peaks[name] ?? 0, tookMs);
      size.look();
      await pass(PROBE_PAUSE_MS);
    } while (!isOver());
  }

  const isLong = outage.patience === 'ages';
  const [judgedLong] = await Promise.all([
    isLong ? judgeLongOutage(scenario, { load, outageAt }) : [],
    ...probesOf(scenario, outage.store, outage.patience).map(repeat),
  ]);
  const longestSilenceMs = isLong ? 0 : load.longestSilenceMs();
  const silence = isLong ? undefined : silenceOf(load);
  problems.push(...judgedLong, ...(silence === undefined ? [] : [silence]));
  const acknowledged = load.responded() - respondedBefore;
  const leastResponses = responsesMin(outage.forMs);
  if (acknowledged < leastResponses) {
    problems.push(
      `${acknowledged} requests were acknowledged meanwhile, expected ${leastResponses} at least`,
    );
  }
  return { acknowledged, problems, peaks: { ...peaks, longestSilenceMs } };
}

const COUNTED_EVERY_MS = 20;
const PAGE_TIMEOUT_MS = 10_000;

/** Without a read: a read that waits would wake the load. Milliseconds; undefined when it takes longer. */
async function untilCounted({ instance }: OutageScenario, timeoutMs: number): Promise<number | undefined> {
  const backAt = performance.now();
  const counted = async () => {
    const page = await (await get(`${instance.origin}/metrics`)).text();
    const isReady = (await get(`${instance.origin}/readyz`)).status === 200;
    return isReady && /^metergate_load_lag_bytes\S* 0$/m.test(page) ? true : undefined;
  };
  const done = await poll(counted, { timeoutMs, everyMs: COUNTED_EVERY_MS });
  return done && Math.round(performance.now() - backAt);
}

function get(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) });
}

/** Of a stop. */
const STOP_MS_MAX = 15_000;

/** In the end both stores hang, and Metergate is stopped; then started again, in the long form. */
async function judge(scenario: OutageScenario, form: Form): Promise<RoundReport> {
  const { instance, judged, stores } = scenario;
  const problems: string[] = [];
  for (const store of Object.values(stores)) store.freeze();
  const requestedAt = performance.now();
  const exitCode = await instance.stop().finally(() => {
    for (const store of Object.values(stores)) store.thaw();
  });
  const stopMs = Math.round(performance.now() - requestedAt);
  if (exitCode !== 0 || stopMs > STOP_MS_MAX)
    problems.push(`the stop ended with ${exitCode} after ${stopMs} ms`);
  const counts = { eventsAcknowledged: judged.ledger.size() };
  if (form === 'short') return { counts, peaks: { stopMs }, problems };
  await instance.start();
  const breakdowns = (all: Judged) => compareBreakdowns(all, ['all'], ['user']);
  problems.push(...(await problemsOf(judged, compareCounters, breakdowns, compareServed(scenario))));
  return { counts, peaks: { stopMs }, problems };
}
