import type { PoolClient } from 'pg';
import { seal, unseal } from '../../domain/secrets.ts';
import { keyReused, type Response, requestHashOf } from '../http/idempotent.ts';
import {
  findResponses,
  type KeptResponse,
  type RequestKey,
  storeResponse,
  tryRequestKeys,
} from '../store/idempotent-responses.ts';
import type { AccountRequest } from './account-request.ts';

/** The kept responses of the Idempotency-Keys of a transaction that decides many requests. */
export interface KeptResponses {
  /** True: another transaction decides a request with this key now. */
  isInUse(request: AccountRequest): boolean;
  /** The response to repeat. Throws Rejected `idempotency_key_reused`. */
  find(request: AccountRequest): Response | undefined;
  /** Also for those of the same transaction that follow. */
  keep(request: AccountRequest, response: Response): void;
  /** Stores what was kept. */
  write(): Promise<void>;
}

interface NewResponse extends KeptResponse {
  place: RequestKey;
}

/** Takes the locks of the keys for the rest of the transaction: no wait, so that none can be a circle. */
export async function takeKeys(
  client: PoolClient,
  requests: readonly AccountRequest[],
  sealingKey: Buffer,
): Promise<KeptResponses> {
  const places = new Map<string, RequestKey>();
  for (const { key } of requests) if (key) places.set(nameOf(key), key);
  const all = [...places];
  const keys = all.map(([, key]) => key);
  const taken = keys.length === 0 ? [] : await tryRequestKeys(client, keys);
  const found = keys.length === 0 ? [] : await findResponses(client, keys);
  const inUse = new Set(all.flatMap(([name], at) => (taken[at] ? [] : [name])));
  const kept = new Map<string, KeptResponse>();
  for (const [at, [name]] of all.entries()) {
    const one = found[at];
    if (one) kept.set(name, one);
  }
  const made: NewResponse[] = [];

  return {
    isInUse: ({ key }) => key !== undefined && inUse.has(nameOf(key)),
    find({ key, change }) {
      const one = key && kept.get(nameOf(key));
      if (!key || !one) return undefined;
      if (!one.requestHash.equals(requestHashOf(change))) throw keyReused();
      return {
        status: one.status,
        body: unseal(one.body, sealingKey, JSON.stringify(key)).toString(),
        replayed: true,
      };
    },
    keep({ key, change }, { status, body }) {
      if (!key) return;
      const sealed = seal(Buffer.from(body), sealingKey, JSON.stringify(key));
      const one = { place: key, requestHash: requestHashOf(change), status, body: sealed };
      kept.set(nameOf(key), one);
      made.push(one);
    },
    async write() {
      for (const { place, ...response } of made) await storeResponse(client, place, response);
    },
  };
}

function nameOf({ method, path, key }: RequestKey): string {
  return JSON.stringify([method, path, key]);
}
