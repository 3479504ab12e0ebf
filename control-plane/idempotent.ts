import { createHash } from 'node:crypto';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { inTransaction } from '../infra/postgres/pool.ts';
import { seal, unseal } from '../infra/secrets.ts';
import { Rejected } from '../schemas/failures.ts';
import { canonicalJson } from '../schemas/rules/exact-json.ts';
import { findAnswer, keepAnswer, lockRequestKey, type RequestKey } from './store/idempotent-answers.ts';

export interface Answer {
  status: number;
  body: string;
  /** True when it was given before: `Idempotent-Replayed: true`. */
  replayed: boolean;
}

export interface ChangeRequest {
  environment: string;
  method: string;
  path: string;
  /** The `Idempotency-Key` header, where there is one. */
  key: string | undefined;
  bodyText: string;
}

/** Makes the change and its answer in this transaction. */
export type Change = (client: PoolClient) => Promise<{ status: number; body: string }>;

/**
 * Runs a change in one transaction. With a key, its answer is kept 24 hours in the same transaction,
 * sealed, since it may hold a secret: the same request again gets the same answer and changes nothing. A
 * refusal undoes everything and is not kept, so a repaired request may use the key again.
 */
export type RunChange = (request: ChangeRequest, change: Change) => Promise<Answer>;

/** A rival with the same key is waited for this long. */
const RIVAL_WAIT_MS = 5_000;

export function createRunChange(pool: Pool, sealingKey: Buffer, rivalWaitMs = RIVAL_WAIT_MS): RunChange {
  async function once(client: PoolClient, request: ChangeRequest, change: Change): Promise<Answer> {
    const place = placeOf(request);
    if (!place) return { ...(await change(client)), replayed: false };
    await lockRequestKey(client, place, rivalWaitMs).catch(inUse);
    const context = JSON.stringify(place);
    const requestHash = hashOf(request.bodyText);
    const kept = await findAnswer(client, place);
    if (kept && !kept.requestHash.equals(requestHash)) throw reused();
    if (kept) return { ...kept, body: unseal(kept.body, sealingKey, context).toString(), replayed: true };
    const answer = await change(client);
    const body = seal(Buffer.from(answer.body), sealingKey, context);
    await keepAnswer(client, place, { requestHash, status: answer.status, body });
    return { ...answer, replayed: false };
  }

  return (request, change) => inTransaction(pool, (client) => once(client, request, change));
}

const ACCEPTABLE_KEY = /^\P{Cc}{1,255}$/u;

function placeOf({ environment, method, path, key }: ChangeRequest): RequestKey | undefined {
  if (key === undefined) return undefined;
  if (!ACCEPTABLE_KEY.test(key)) {
    throw new Rejected(
      'idempotency_key_invalid',
      'Idempotency-Key has 1 to 255 characters, none of control.',
    );
  }
  return { environment, method, path, key };
}

function hashOf(bodyText: string): Buffer {
  return createHash('sha256').update(canonicalJson(bodyText)).digest();
}

function reused(): Rejected {
  return new Rejected('idempotency_key_reused', 'This Idempotency-Key was used with another body.');
}

/** SQLSTATE 55P03, lock_not_available. */
function inUse(error: unknown): never {
  if (!(error instanceof DatabaseError) || error.code !== '55P03') throw error;
  throw new Rejected(
    'idempotency_key_in_use',
    'A request with this Idempotency-Key is under way; wait for it.',
  );
}
