import type { Api, ApiResponse } from '../../support/api.ts';
import { during } from '../../support/during.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Role } from '../../support/instance.ts';
import { type OpenedInstance, openInstance } from '../../support/open-instance.ts';
import type { Random } from '../../support/random.ts';
import { startSenders } from '../../support/senders.ts';
import type { FaultPromise, Round, RoundReport } from '../promise.ts';
import { untilResponse } from '../until-response.ts';
import { judgeChanges } from './judge-changes.ts';
import {
  CHANGES,
  type ChangePlanner,
  type Outcome,
  type PlannedChange,
  planChanges,
} from './plan-changes.ts';
import { judgeNotified, readStoredChanges } from './stored-changes.ts';

/**
 * Rounds of changes of every kind by many clients at once, a kill -9 within them, and a look at every row,
 * event and audit entry afterwards. One installation lives through all of them.
 */
export const changesKilled: FaultPromise = {
  promises: [20],
  title: 'the control side, Postgres and the supervisor are killed while the API changes things',
  rounds: { short: 3, long: 150 },
  async open({ onEnd }) {
    const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 2 * SENDERS });
    onEnd(close);
    const taken = new Set<string>();
    return {
      round: (round) => killRound({ instance, api, taken }, round),
      judge: async () => judgeKinds(taken),
    };
  },
};

const SENDERS = 8;
/** The supervisor takes everything with it and is started again by us: a start each time. */
const VICTIMS: readonly Role[] = [
  ...Array<Role[]>(4).fill(['control side', 'postgres', 'control side']).flat(),
  'supervisor',
];
/** Before the kill and after it: enough that every kind of change meets every other. */
const RESPONSES_BEFORE = { least: 50, most: 350 };
const RESPONSES_AFTER = 150;
const PATIENCE = { timeoutMs: 60_000, everyMs: 1 };

/** `taken`: operations that were taken at least once. */
async function killRound(
  { instance, api, taken }: Pick<OpenedInstance, 'instance' | 'api'> & { taken: Set<string> },
  { number, random, run }: Round,
): Promise<RoundReport> {
  const victim = VICTIMS[number % VICTIMS.length] ?? 'control side';
  const since = new Date();
  const planner = planChanges(random, run, taken);
  const workload = startChangeWorkload(api, planner, random);
  const untilResponse = (count: number) => {
    return seenInTime(() => workload.responded() >= count || undefined, PATIENCE, `${count} changes`);
  };
  const { summary } = await during(workload, async () => {
    await untilResponse(RESPONSES_BEFORE.least + random.below(RESPONSES_BEFORE.most));
    await instance.kill(victim);
    const before = workload.responded();
    if (victim === 'supervisor') await instance.start();
    await untilResponse(before + RESPONSES_AFTER);
  });
  const { outcomes, problems, repeated } = summary;
  const stored = await readStoredChanges(instance, since);
  const changesTaken = outcomes.filter(({ response }) => response.status < 300).length;
  const counts = {
    [`kills of ${victim}`]: 1,
    changesTaken,
    changesRejected: outcomes.length - changesTaken,
    requestsRepeated: repeated,
    eventsNotified: stored.events.length,
  };
  const wrongNotices = await judgeNotified({ instance, api }, since);
  return { counts, problems: [...problems, ...judgeChanges(outcomes, stored), ...wrongNotices] };
}

/** What was never taken was never tried. */
function judgeKinds(taken: Set<string>): RoundReport {
  const missed = CHANGES.map(([operationId]) => operationId).filter((one) => !taken.has(one));
  const problems = missed.map((operationId) => `${operationId} was never taken: nothing is known of it`);
  return { counts: { kindsOfChange: taken.size }, problems };
}

/** What a workload has done. */
interface WorkloadOfChanges {
  outcomes: Outcome[];
  /** Sentences about responses that must not occur. */
  problems: string[];
  /** Requests sent again because no response came. */
  repeated: number;
}

/** Share of POSTs: sent twice at once, and once more after the response. */
const COPIED_SHARE = 0.1;
const REPLAYED_SHARE = 0.15;

/** Sends changes continuously until it is stopped; each is repeated until its response comes. */
function startChangeWorkload(api: Api, planner: ChangePlanner, random: Random) {
  const workload: WorkloadOfChanges = { outcomes: [], problems: [], repeated: 0 };
  let requested = 0;

  async function sendUntilResponse(change: PlannedChange, requestIds: string[]): Promise<ApiResponse> {
    const { method, path, body, idempotencyKey } = change;
    const key = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const send = () => {
      requested += 1;
      const requestId = `${idempotencyKey ?? 'change'}.${requested}`;
      requestIds.push(requestId);
      const headers = { 'x-request-id': requestId, ...key };
      return api.call(method, path, { headers, ...(body === undefined ? {} : { body }) });
    };
    const isOpen = (response: ApiResponse) => {
      return response.status === 503 || codeOf(response) === 'idempotency_key_in_use';
    };
    const { response, repeats } = await untilResponse(send, `${method} ${path}`, isOpen);
    workload.repeated += repeats;
    return response;
  }

  async function send(): Promise<void> {
    const change = planner.next();
    const requestIds: string[] = [];
    const isPost = change.idempotencyKey !== undefined;
    const copies = isPost && random.chance(COPIED_SHARE) ? 2 : 1;
    const again = () => sendUntilResponse(change, requestIds);
    const responses = await Promise.all(Array.from({ length: copies }, again));
    if (isPost && random.chance(REPLAYED_SHARE)) responses.push(await again());
    const [response] = responses as [ApiResponse];
    workload.problems.push(...faultsOf(change, responses));
    workload.outcomes.push({ change, requestIds, response });
    if (response.status < 300) planner.taken(change, (response.body ?? {}) as object);
  }

  return {
    ...startSenders({ senders: SENDERS, send, summary: workload }),
    /** Responses so far. */
    responded: () => workload.outcomes.length,
  };
}

/** Rejected because of the state of its object: another change came first. */
const STATES = [404, 409];

function faultsOf(change: PlannedChange, responses: ApiResponse[]): string[] {
  const named = `${change.operationId} ${change.path} ${change.body ?? ''}`;
  const odd = responses.filter((response) => {
    return response.status !== change.status && !STATES.includes(response.status) && !isFull(response);
  });
  const texts = new Set(
    responses.filter(({ status }) => status === change.status).map(({ body }) => JSON.stringify(body)),
  );
  return [
    ...odd.map(({ status, body }) => `${named} returned ${status} ${JSON.stringify(body)}`),
    ...(texts.size > 1 ? [`${named} returned different responses: ${[...texts].join(' and ')}`] : []),
  ];
}

/** A run of hours makes more endpoints than there may be. */
function isFull({ status, body }: ApiResponse): boolean {
  const details = (body as { error?: { details?: object } } | undefined)?.error?.details;
  return status === 400 && details !== undefined && 'endpointsMax' in details;
}

function codeOf({ body }: ApiResponse): string | undefined {
  return (body as { error?: { code?: string } } | undefined)?.error?.code;
}
