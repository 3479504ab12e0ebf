import type { Api, ApiResponse } from '../../support/api.ts';
import type { Random } from '../../support/random.ts';
import { startSenders } from '../../support/senders.ts';
import { untilResponse } from '../until-response.ts';
import type { ChangePlanner, PlannedChange } from './plan-changes.ts';

/** What a workload has done. */
export interface WorkloadOfChanges {
  outcomes: Outcome[];
  /** Sentences about responses that must not occur. */
  problems: string[];
  /** Requests sent again because no response came. */
  repeated: number;
}

/** What came of one change. */
export interface Outcome {
  change: PlannedChange;
  /** One per try: the audit log has the id of the try that took effect. */
  requestIds: string[];
  response: ApiResponse;
}

export interface WorkloadDeps {
  api: Api;
  planner: ChangePlanner;
  random: Random;
  senders: number;
}

/** Share of POSTs: sent twice at once, and once more after the response. */
const COPIED_SHARE = 0.1;
const REPLAYED_SHARE = 0.15;

/** Sends changes continuously until it is stopped; each is repeated until its response comes. */
export function startChangeWorkload({ api, planner, random, senders }: WorkloadDeps) {
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

  const load = startSenders({ senders, send });
  return {
    /** Responses so far. */
    responded: () => workload.outcomes.length,
    /** Rejects when a change received no response for too long. */
    async stop() {
      await load.stop();
      return workload;
    },
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
