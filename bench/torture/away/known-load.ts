import { setTimeout as pass } from 'node:timers/promises';
import type { Judged } from '../../compare.ts';
import { type PlannedRequest, planRequests } from '../../generator.ts';
import { sendAll, sendUntilAnswered } from '../../send.ts';

/** A load of keys, customers and meters that the data plane knows: it goes on whatever store is away. */
export interface KnownLoad {
  /** Requests answered so far. */
  answered(): number;
  /** The longest time that no answer came, in milliseconds. */
  longestSilenceMs(): number;
  stop(): Promise<void>;
}

export interface KnownLoadOptions {
  seed: number;
  /** Distinguishes the keys of several loads against one store. */
  run: string;
}

const LANES = 4;
const BATCH_ITEMS = 50;
/** A pause between two requests of a lane: the machine is to judge as well. */
const PAUSE_MS = 20;
const PATIENCE_MS = 60_000;
/** Enough that every name of every customer and meter comes. */
const WARM_UP_ITEMS = 1_500;

/** Begins when every name was seen once: what comes then is known. */
export async function startKnownLoad(judged: Judged, { seed, run }: KnownLoadOptions): Promise<KnownLoad> {
  const { api, ledger, world } = judged;
  const sending = { api, ledger, connections: LANES, patienceMs: PATIENCE_MS };
  const plan = { seed, run, nowMs: Date.now(), world, batchItems: BATCH_ITEMS };
  await sendAll(planRequests({ ...plan, run: `${run}w`, items: WARM_UP_ITEMS }), sending);
  const requests = planRequests({ ...plan, items: Number.POSITIVE_INFINITY });
  let isStopping = false;
  let answered = 0;
  let longestMs = 0;
  let lastAt = performance.now();
  const silenceMs = () => performance.now() - lastAt;

  async function lane(): Promise<void> {
    while (!isStopping) {
      await sendUntilAnswered(nextKnown(requests), sending);
      longestMs = Math.max(longestMs, silenceMs());
      lastAt = performance.now();
      answered++;
      await pass(PAUSE_MS);
    }
  }

  const lanes = Promise.all(Array.from({ length: LANES }, lane));
  lanes.catch(() => undefined); // told by `stop`
  return {
    answered: () => answered,
    longestSilenceMs: () => Math.round(Math.max(longestMs, silenceMs())),
    async stop() {
      isStopping = true;
      await lanes;
    },
  };
}

/** Without the items that name a stranger: while Postgres is away nobody can say what is wrong with them. */
function nextKnown(requests: Iterator<PlannedRequest>): PlannedRequest {
  const { value: request } = requests.next() as { value: PlannedRequest };
  const items = request.items.filter(({ refusal }) => refusal !== 'customer_not_found');
  if (items.length === request.items.length) return request;
  const lines = items.map(({ json }) => json);
  return { ...request, items, body: request.kind === 'ndjson' ? lines.join('\n') : batchOf(lines) };
}

function batchOf(lines: string[]): string {
  return `{"events":[${lines.join(',')}]}`;
}
