import { setTimeout as pass } from 'node:timers/promises';
import type { KeyTable } from '../../infra/key-table/key-table.ts';
import type { Claim, ClaimBatch } from '../../infra/ports/idempotency-store.ts';
import { Transient } from '../../schemas/failures.ts';
import { onceKeysAreRead } from '../../tests/support/once-keys-are-read.ts';

const WAIT_MS = 1;

/** Claims new keys as soon as there is room for them: a bench adds them faster than they are sealed. */
export async function claimWithRoom(keys: KeyTable, batch: ClaimBatch): Promise<Claim> {
  for (;;) {
    try {
      return await onceKeysAreRead(() => keys.claim(batch));
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      await pass(WAIT_MS);
    }
  }
}
