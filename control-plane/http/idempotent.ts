import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { seal, unseal } from '../../domain/secrets.ts';
import { createFairShares } from '../../infra/platform/fair-shares.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { Rejected } from '../../schemas/failures.ts';
import { canonicalJson } from '../../schemas/primitives/exact-json.ts';
import {
  findResponse,
  lockRequestKey,
  type RequestKey,
  storeResponse,
  tryRequestKey,
} from '../store/idempotent-responses.ts';
import { createTenantSemaphore, type SemaphoreLimits } from './tenant-semaphore.ts';

export interface Response {
  status: number;
  body: string;
  /** True for a replayed response: `Idempotent-Replayed: true`. */
  replayed: boolean;
}

export interface ChangeRequest {
  environment: string;
  method: string;
  path: string;
  /** The `Idempotency-Key` header, where there is one. */
  key: string | undefined;
  bodyText: string;
  /** The name for its share of the semaphore. Default: its environment. */
  share?: string;
  /** What must be the same, in addition to the body, for the response to be replayed. */
  boundTo?: string[];
}

/** Makes the change and its response in this transaction. */
export type Change = (client: PoolClient) => Promise<{ status: number; body: string }>;

/**
 * Runs a change in one transaction. With a key, its response is stored for 24 hours in the same transaction,
 * sealed, since it may contain a secret: the same request again gets the same response and changes nothing. A
 * rejection rolls everything back and is not stored, so a corrected request may use the key again.
 */
export type RunChange = (request: ChangeRequest, change: Change) => Promise<Response>;

/** How long a request waits for a concurrent one with the same key. */
export const RIVAL_WAIT_MS = 5_000;
/**
 * Each waiting request uses one of the pool's 20 connections: at most ten of one environment wait, which may
 * have 12. Further ones are rejected at once.
 */
const WAITING_MAX = 20;

/**
 * A transaction uses one of the pool's 20 connections, and may wait in it for a lock of another one of its
 * environment: an environment that changes one catalogue a hundred times at once leaves 8 to the
 * others.
 */
const CHANGES: SemaphoreLimits = {
  underWayMax: 16,
  shareMax: 12,
  waitingMax: 512,
  waitingShareMax: 256,
  waitMs: 5_000,
};

export function createRunChange(pool: Pool, sealingKey: Buffer, rivalWaitMs = RIVAL_WAIT_MS): RunChange {
  const waiting = createFairShares(WAITING_MAX);
  const gate = createTenantSemaphore(CHANGES, 'changes');

  async function take(client: PoolClient, place: RequestKey): Promise<void> {
    if (await tryRequestKey(client, place)) return;
    const { environment } = place;
    if (!waiting.take(environment, 1)) throw keyInUse();
    try {
      if (!(await lockRequestKey(client, place, rivalWaitMs))) throw keyInUse();
    } finally {
      waiting.give(environment, 1);
    }
  }

  async function once(client: PoolClient, request: ChangeRequest, change: Change): Promise<Response> {
    const place = requestKeyOf(request);
    if (!place) return { ...(await change(client)), replayed: false };
    await take(client, place);
    const context = JSON.stringify(place);
    const requestHash = requestHashOf(request);
    const kept = await findResponse(client, place);
    if (kept && !kept.requestHash.equals(requestHash)) throw keyReused();
    if (kept) return { ...kept, body: unseal(kept.body, sealingKey, context).toString(), replayed: true };
    const response = await change(client);
    const body = seal(Buffer.from(response.body), sealingKey, context);
    // mutant: response-stored-outside-its-transaction
    await storeResponse(client, place, { requestHash, status: response.status, body });
    return { ...response, replayed: false };
  }

  return (request, change) =>
    gate.run(request.share ?? request.environment, () =>
      inTransaction(pool, (client) => once(client, request, change)),
    );
}

/**
 * As on the data plane: other bytes of a header can be decoded in several ways, and two keys would be one.
 */
const ACCEPTABLE_KEY = /^[\x20-\x7e]{1,255}$/;

/** Undefined: it has no key. Throws Rejected. */
export function requestKeyOf({ environment, method, path, key }: ChangeRequest): RequestKey | undefined {
  if (key === undefined) return undefined;
  if (!ACCEPTABLE_KEY.test(key)) {
    throw new Rejected(
      'idempotency_key_invalid',
      'Send one Idempotency-Key of 1 to 255 visible ASCII characters.',
    );
  }
  return { environment, method, path, key };
}

/** What must be the same for a stored response to be replayed. */
export function requestHashOf({ bodyText, boundTo = [] }: ChangeRequest): Buffer {
  const bound = boundTo.length === 0 ? '' : `\n${JSON.stringify(boundTo)}`;
  // If a body is optional, a missing one equals an empty one.
  const body = canonicalJson(bodyText === '' ? '{}' : bodyText);
  return createHash('sha256')
    .update(body + bound)
    .digest();
}

export function keyReused(): Rejected {
  return new Rejected(
    'idempotency_key_reused',
    'This Idempotency-Key was used with another body, or by an API key with other scopes. Use a new one.',
  );
}

export function keyInUse(): Rejected {
  return new Rejected(
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is in progress. Retry the request.',
  );
}
