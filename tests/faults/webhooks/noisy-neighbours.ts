import { setTimeout as pass } from 'node:timers/promises';
import { type Api, createApi } from '../../support/api.ts';
import { during } from '../../support/during.ts';
import { percentile } from '../../support/freshness-probe.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Behaviour, ReceivedEvent } from '../../support/webhook-receiver.ts';
import type { FaultPromise, RoundReport } from '../promise.ts';
import { openWebhookScenario, register, startCustomerWorkload } from './webhook-scenario.ts';

/**
 * Promise 13: endpoints of two environments receive the same kind of change, all healthy at first; then
 * every second one takes connections and sends no response. The others receive events as soon as before.
 */
export const noisyNeighbours: FaultPromise = {
  promises: [13],
  title: 'half of all endpoints send no response',
  rounds: { short: 1, long: 5 },
  async open(options) {
    const world: Neighbourhood = { apis: [], size: SIZES[options.form], hangs: false, delaysMs: [] };
    const onEvent = (event: ReceivedEvent) => receive(world, event);
    const scenario = await openWebhookScenario(options, { connections: 4, onEvent });
    const { origin, keys } = scenario.instance;
    const test = createApi({ origin, key: keys().test.secret, connections: 4 });
    options.onEnd(() => test.close());
    world.apis = [scenario.api, test];
    for (let n = 0; n < world.size.endpoints; n += 1) {
      const api = world.apis[n % world.apis.length] as Api;
      await register(api, scenario.receiver.url(`${isNoisy(n) ? NOISY : 'well'}-${n}`));
    }
    return { round: ({ run }) => hangHalf(world, run) };
  },
};

/** Every second one of either environment. */
function isNoisy(n: number): boolean {
  return n % 4 >= 2;
}

const NOISY = 'noisy';
const SIZES = {
  short: { endpoints: 20, seconds: 4, pauseMs: 100 },
  long: { endpoints: 200, seconds: 60, pauseMs: 1_000 },
};
/**
 * A promise is about what is held up, not about how long a busy machine takes for a few milliseconds of work.
 */
const BASELINE_MS_MIN = 250;
const TIMES_MAX = 2;
const PATIENCE = { timeoutMs: 40_000 };

interface Neighbourhood {
  apis: readonly Api[];
  size: (typeof SIZES)['short'];
  /** Whether the noisy endpoints hang. */
  hangs: boolean;
  /** Of deliveries to healthy endpoints. */
  delaysMs: number[];
}

function receive({ hangs, delaysMs }: Neighbourhood, { endpoint, body, atMs }: ReceivedEvent): Behaviour {
  if (endpoint.startsWith(NOISY)) return hangs ? 'hang' : { status: 200 };
  const { created_at } = JSON.parse(body) as { created_at: string };
  delaysMs.push(atMs - Date.parse(created_at));
  return { status: 200 };
}

async function hangHalf(world: Neighbourhood, run: string): Promise<RoundReport> {
  const { size } = world;
  world.hangs = false;
  const baseline = await measure(world, `${run}-baseline`);
  world.hangs = true;
  const whileHanging = await measure(world, `${run}-hanging`);
  const [baselineP99Ms, duringHangP99Ms] = [baseline, whileHanging].map((all) =>
    Math.round(percentile(all, 99)),
  ) as [number, number];
  const allowedMs = TIMES_MAX * Math.max(baselineP99Ms, BASELINE_MS_MIN);
  const problem =
    `healthy endpoints received events after ${duringHangP99Ms} ms (p99) while others hang, ` +
    `${baselineP99Ms} ms without`;
  return {
    counts: { endpoints: size.endpoints, eventsToHealthyEndpoints: baseline.length + whileHanging.length },
    peaks: { baselineP99Ms, duringHangP99Ms },
    problems: duringHangP99Ms > allowedMs ? [problem] : [],
  };
}

/** Delays of all deliveries to healthy endpoints. */
async function measure({ apis, delaysMs, size }: Neighbourhood, run: string): Promise<number[]> {
  delaysMs.length = 0;
  let created = 0;
  const workloads = apis.map((api, at) => {
    const onCreated = () => {
      created += 1;
    };
    return startCustomerWorkload(api, { run: `${run}-${at}`, senders: 1, pauseMs: size.pauseMs, onCreated });
  });
  await during({ stop: () => Promise.all(workloads.map((workload) => workload.stop())) }, () =>
    pass(size.seconds * 1_000),
  );
  const expected = (created * size.endpoints) / 2 / apis.length;
  const isNotified = () => delaysMs.length >= expected;
  await seenInTime(() => isNotified() || undefined, PATIENCE, 'the deliveries to healthy endpoints');
  return [...delaysMs];
}
