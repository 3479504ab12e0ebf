import { setTimeout as pass } from 'node:timers/promises';
import type { Api, ApiResponse } from '../../support/api.ts';
import type { Random } from '../../support/random.ts';
import type { ChangePlanner, PlannedChange } from './plan-changes.ts';

/** Changes without a break until it is stopped; each is asked for until it is answered. */
export interface ChangeWorkload {
  /** Answers so far. */
  responded(): number;
  /** Resolves when everything asked for was answered. Rejects when one found no answer for too long. */
  stop(): Promise<WorkloadOfChanges>;
}

export interface WorkloadOfChanges {
  outcomes: Outcome[];
  /** Sentences about answers that must not be. */
  problems: string[];
  /** Requests sent again for want of an answer. */
  repeated: number;
}

/** What came of one change. */
export interface Outcome {
  change: PlannedChange;
  /** Of each time it was asked for: whichever took effect stands in the audit log. */
  requestIds: string[];
  response: ApiResponse;
}

export interface WorkloadDeps {
  api: Api;
  planner: ChangePlanner;
  random: Random;
  lanes: number;
}

const PATIENCE_MS = 60_000;
const PAUSE_MS = 25;
/** Of the POSTs: sent twice at once, and once more after the answer. */
const COPIED_SHARE = 0.1;
const REPLAYED_SHARE = 0.15;

export function startChangeWorkload({ api, planner, random, lanes }: WorkloadDeps): ChangeWorkload {
  const workload: WorkloadOfChanges = { outcomes: [], problems: [], repeated: 0 };
  let isOver = false;
  let requested = 0;

  async function askOnce(change: PlannedChange, requestIds: string[]): Promise<ApiResponse | undefined> {
    requested += 1;
    const requestId = `${change.idempotencyKey ?? 'change'}.${requested}`;
    requestIds.push(requestId);
    const { method, path, body, idempotencyKey } = change;
    const key = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const headers = { 'x-request-id': requestId, ...key };
    const options = { headers, ...(body === undefined ? {} : { body }) };
    const response = await api.call(method, path, options).catch(() => undefined);
    const unknown = !response || response.status === 503 || codeOf(response) === 'idempotency_key_in_use';
    return unknown ? undefined : response;
  }

  async function askUntilResponse(change: PlannedChange, requestIds: string[]): Promise<ApiResponse> {
    for (const giveUpAt = Date.now() + PATIENCE_MS; ; ) {
      const response = await askOnce(change, requestIds);
      if (response) return response;
      if (Date.now() > giveUpAt) throw new Error(`${change.method} ${change.path} found no answer`);
      workload.repeated += 1;
      await pass(PAUSE_MS);
    }
  }

  async function makeOne(): Promise<void> {
    const change = planner.next();
    const requestIds: string[] = [];
    const isPost = change.idempotencyKey !== undefined;
    const copies = isPost && random.chance(COPIED_SHARE) ? 2 : 1;
    const responses = await Promise.all(
      Array.from({ length: copies }, () => askUntilResponse(change, requestIds)),
    );
    if (isPost && random.chance(REPLAYED_SHARE)) responses.push(await askUntilResponse(change, requestIds));
    const [response] = responses as [ApiResponse];
    workload.problems.push(...faultsOf(change, responses));
    workload.outcomes.push({ change, requestIds, response });
    if (response.status < 300) planner.taken(change, (response.body ?? {}) as object);
  }

  const lane = async () => {
    while (!isOver) await makeOne();
  };
  const done = Promise.all(Array.from({ length: lanes }, lane));
  // It is awaited at the stop; a lane that fails before is not to end the process.
  done.catch(() => undefined);
  return {
    responded: () => workload.outcomes.length,
    async stop() {
      isOver = true;
      await done;
      return workload;
    },
  };
}

/** Refused for the state of what it names: another change came first. */
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
    ...odd.map(({ status, body }) => `${named} was answered ${status} ${JSON.stringify(body)}`),
    ...(texts.size > 1 ? [`${named} was answered differently: ${[...texts].join(' and ')}`] : []),
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
