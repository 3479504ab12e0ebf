import { base32 } from '../../schemas/primitives/ids.ts';
import { sipHash } from './sip-hash.ts';

const ID_KEY_BYTES = 16;

/** The id of the usage event with this idempotency key. `environmentKey`: domain/secrets.ts. */
export function eventIdOf(environmentKey: Uint8Array, idempotencyKey: string): string {
  return `use_${base32(sipHash(environmentKey.subarray(0, ID_KEY_BYTES), Buffer.from(idempotencyKey), 16))}`;
}
