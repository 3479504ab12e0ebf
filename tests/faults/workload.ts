import type { Judged } from '../support/compare.ts';
import { type PlannedRequest, planRequests } from '../support/generator.ts';
import type { MeantEvent } from '../support/planned-event.ts';
import { createRandom } from '../support/random.ts';
import { type SendOptions, sendUntilResponse } from '../support/send.ts';
import { startSenders } from '../support/senders.ts';

export type Workload = ReturnType<typeof startWorkload>;

export interface WorkloadSummary {
  requestsSent: number;
  concurrentCopies: number;
  /** Requests that had to be sent again, since no response came or it was 503. */
  requestsRepeated: number;
}

export interface WorkloadOptions {
  seed: number;
  /** Loops that send; a request sent twice at once takes two connections. */
  senders: number;
  batchItems: number;
  /** Distinguishes the keys of several workloads against one store. */
  run: string;
  /** Events of the workloads before: they are replayed too. */
  past: MeantEvent[];
  /** After each request of a sender; none by default. The ledger keeps every event, some 800 bytes of it. */
  pauseMs?: number;
  /** What is sent of a planned request; all of it by default. */
  sentOf?: (request: PlannedRequest) => PlannedRequest;
  onResponded?: () => void;
}

/** Of the items; half of them within their own batch. */
const REPLAY_SHARE = 0.3;
/** Of the requests: the same bytes on two connections at once. */
export const COPY_SHARE = 0.2;
const PATIENCE_MS = 60_000;
/** What a sender and its copy can have in flight at a kill, and as much again that had just its response. */
const RECENT_PER_SENDER = 4;

/** A load that runs until it is stopped: every request is repeated until its response comes and is judged. */
export function startWorkload(judged: Judged, options: WorkloadOptions) {
  const { senders, pauseMs = 0, sentOf = (request) => request, onResponded } = options;
  const random = createRandom(options.seed + 1);
  const requests = planRequests({
    ...options,
    items: Number.POSITIVE_INFINITY,
    nowMs: Date.now(),
    world: judged.world,
    replayShare: REPLAY_SHARE,
  });
  const summary: WorkloadSummary = { requestsSent: 0, concurrentCopies: 0, requestsRepeated: 0 };
  const recent: PlannedRequest[] = [];
  const sending = sendOptions(judged, (request) => {
    recent.push(request);
    if (recent.length > RECENT_PER_SENDER * senders) recent.shift();
    onResponded?.();
  });

  async function send(): Promise<void> {
    const { value: planned } = requests.next() as { value: PlannedRequest };
    const request = sentOf(planned);
    const copies = random.chance(COPY_SHARE) ? [request, request] : [request];
    summary.requestsSent += copies.length;
    summary.concurrentCopies += copies.length - 1;
    const repeats = await Promise.all(copies.map((copy) => sendUntilResponse(copy, sending)));
    summary.requestsRepeated += repeats.reduce((sum, count) => sum + count, 0);
  }

  const load = startSenders({ senders, pauseMs, send });
  return {
    /** The last requests with a response, newest last. */
    recent: () => [...recent],
    /** Resolves when everything sent has its response. Rejects when a request received none for too long. */
    async stop(): Promise<WorkloadSummary> {
      await load.stop();
      return summary;
    },
  };
}

/** For code that sends during the workload: as patient as it is. */
export function sendOptions(
  { api, ledger }: Judged,
  onResponded?: (request: PlannedRequest) => void,
): SendOptions {
  const watching = onResponded === undefined ? {} : { onResponded };
  return { api, ledger, connections: 4, patienceMs: PATIENCE_MS, ...watching };
}
