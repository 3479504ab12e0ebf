import type { Judged } from '../../support/compare.ts';
import { type PlannedRequest, planRequests } from '../../support/generator.ts';
import { sendAll } from '../../support/send.ts';
import type { Round } from '../promise.ts';
import { COPY_SHARE, sendOptions, startWorkload } from '../workload.ts';

export type KnownLoad = Awaited<ReturnType<typeof startKnownLoad>>;

/** While Postgres is unavailable a key is checked again each second, and waits 300 ms for that. */
export const SILENCE_MS_MAX = 2_000;
const SENDERS = 4;
const BATCH_ITEMS = 50;
/** Enough that every name of every customer and meter comes. */
const WARM_UP_ITEMS = 1_500;

/**
 * A workload of keys, customers and meters that the data plane knows: it goes on whatever store is
 * unavailable. Begins when every name was seen once: what comes then is known. The pause is one of
 * {@link pauseFor}.
 */
export async function startKnownLoad(judged: Judged, { seed, run }: Round, pauseMs: number) {
  const plan = { seed, nowMs: Date.now(), world: judged.world, batchItems: BATCH_ITEMS };
  await sendAll(planRequests({ ...plan, run: `${run}w`, items: WARM_UP_ITEMS }), sendOptions(judged));
  let responded = 0;
  let longestMs = 0;
  let lastAt = performance.now();
  const silenceMs = () => performance.now() - lastAt;
  const onResponded = () => {
    responded++;
    longestMs = Math.max(longestMs, silenceMs());
    lastAt = performance.now();
  };
  const load = { pauseMs, senders: SENDERS, batchItems: BATCH_ITEMS, sentOf: knownPart, onResponded };
  const { stop } = startWorkload(judged, { seed, run }, load);
  return {
    stop,
    /** Requests acknowledged so far. */
    responded: () => responded,
    /** The longest time without a response. */
    longestSilenceMs: () => Math.round(Math.max(longestMs, silenceMs())),
  };
}

/** A sentence when nothing was acknowledged for too long. */
export function silenceOf({ longestSilenceMs }: KnownLoad): string | undefined {
  const silentMs = longestSilenceMs();
  return silentMs > SILENCE_MS_MAX ? `no acknowledgement for ${silentMs} ms` : undefined;
}

/** Some 100,000 events of an outage, 80 MB of them in the ledger, however long it is. */
const REQUESTS_MAX = 3_000;
/** The machine is to judge as well. */
const PAUSE_MS_MIN = 20;

/** The pause with which an outage of so many milliseconds sees no more requests than the ledger can hold. */
export function pauseFor(outageMs: number): number {
  return Math.max(PAUSE_MS_MIN, Math.ceil((outageMs * SENDERS * (1 + COPY_SHARE)) / REQUESTS_MAX));
}

/** A tenth of what its senders can have had acknowledged in an outage of this many milliseconds. */
export function responsesMin(outageMs: number): number {
  return Math.ceil((outageMs * SENDERS) / pauseFor(outageMs) / 10);
}

/** Without the items of unknown customers: while Postgres is unavailable these cannot be judged. */
function knownPart(request: PlannedRequest): PlannedRequest {
  const items = request.items.filter(({ rejection }) => rejection !== 'customer_not_found');
  if (items.length === request.items.length) return request;
  const lines = items.map(({ json }) => json);
  const body = request.kind === 'ndjson' ? lines.join('\n') : `{"events":[${lines.join(',')}]}`;
  return { ...request, items, body };
}
