import { setTimeout as pass } from 'node:timers/promises';
import type { Api, ApiAnswer } from '../../support/api.ts';
import type { Random } from '../../support/random.ts';
import type { ChangePlanner, PlannedChange } from './plan-changes.ts';

/** Changes without a break until it is stopped; each is asked for until it is answered. */
export interface ChangeStorm {
  /** Answers so far. */
  answered(): number;
  /** Resolves when everything asked for was answered. Rejects when one found no answer for too long. */
  stop(): Promise<StormOfChanges>;
}

export interface StormOfChanges {
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
  answer: ApiAnswer;
}

export interface StormDeps {
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

export function startChangeStorm({ api, planner, random, lanes }: StormDeps): ChangeStorm {
  const storm: StormOfChanges = { outcomes: [], problems: [], repeated: 0 };
  let isOver = false;
  let asked = 0;

  async function askOnce(change: PlannedChange, requestIds: string[]): Promise<ApiAnswer | undefined> {
    asked += 1;
    const requestId = `${change.idempotencyKey ?? 'change'}.${asked}`;
    requestIds.push(requestId);
    const { method, path, body, idempotencyKey } = change;
    const key = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const headers = { 'x-request-id': requestId, ...key };
    const options = { headers, ...(body === undefined ? {} : { body }) };
    const answer = await api.call(method, path, options).catch(() => undefined);
    const unknown = !answer || answer.status === 503 || codeOf(answer) === 'idempotency_key_in_use';
    return unknown ? undefined : answer;
  }

  async function askUntilAnswered(change: PlannedChange, requestIds: string[]): Promise<ApiAnswer> {
    for (const giveUpAt = Date.now() + PATIENCE_MS; ; ) {
      const answer = await askOnce(change, requestIds);
      if (answer) return answer;
      if (Date.now() > giveUpAt) throw new Error(`${change.method} ${change.path} found no answer`);
      storm.repeated += 1;
      await pass(PAUSE_MS);
    }
  }

  async function makeOne(): Promise<void> {
    const change = planner.next();
    const requestIds: string[] = [];
    const isPost = change.idempotencyKey !== undefined;
    const copies = isPost && random.chance(COPIED_SHARE) ? 2 : 1;
    const answers = await Promise.all(
      Array.from({ length: copies }, () => askUntilAnswered(change, requestIds)),
    );
    if (isPost && random.chance(REPLAYED_SHARE)) answers.push(await askUntilAnswered(change, requestIds));
    const [answer] = answers as [ApiAnswer];
    storm.problems.push(...faultsOf(change, answers));
    storm.outcomes.push({ change, requestIds, answer });
    if (answer.status < 300) planner.taken(change, (answer.body ?? {}) as object);
  }

  const lane = async () => {
    while (!isOver) await makeOne();
  };
  const done = Promise.all(Array.from({ length: lanes }, lane));
  // It is awaited at the stop; a lane that fails before is not to end the process.
  done.catch(() => undefined);
  return {
    answered: () => storm.outcomes.length,
    async stop() {
      isOver = true;
      await done;
      return storm;
    },
  };
}

/** Refused for the state of what it names: another change came first. */
const STATES = [404, 409];

function faultsOf(change: PlannedChange, answers: ApiAnswer[]): string[] {
  const named = `${change.operationId} ${change.path} ${change.body ?? ''}`;
  const odd = answers.filter((answer) => {
    return answer.status !== change.status && !STATES.includes(answer.status) && !isFull(answer);
  });
  const texts = new Set(
    answers.filter(({ status }) => status === change.status).map(({ body }) => JSON.stringify(body)),
  );
  return [
    ...odd.map(({ status, body }) => `${named} was answered ${status} ${JSON.stringify(body)}`),
    ...(texts.size > 1 ? [`${named} was answered differently: ${[...texts].join(' and ')}`] : []),
  ];
}

/** A run of hours makes more endpoints than there may be. */
function isFull({ status, body }: ApiAnswer): boolean {
  const details = (body as { error?: { details?: object } } | undefined)?.error?.details;
  return status === 400 && details !== undefined && 'endpointsMax' in details;
}

function codeOf({ body }: ApiAnswer): string | undefined {
  return (body as { error?: { code?: string } } | undefined)?.error?.code;
}
