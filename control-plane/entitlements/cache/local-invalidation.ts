import { collectInvalidations, type SentInvalidation } from '../../../domain/store/send-invalidations.ts';
import type { RunChange } from '../../http/idempotent.ts';

/**
 * The process that makes a change invalidates its own caches before it responds, so that the caller sees the
 * change in its next request. All other processes receive the invalidation by NOTIFY.
 */
export function withLocalInvalidation(
  runChange: RunChange,
  invalidate: (channel: string, payload: string) => void,
): RunChange {
  return async (request, change) => {
    const sent: SentInvalidation[] = [];
    try {
      return await runChange(request, (client) => collectInvalidations(client, sent, () => change(client)));
    } finally {
      // Also after a failure: a failed commit may have been made all the same. Too many invalidations do no
      // harm.
      for (const { channel, payload } of sent) invalidate(channel, payload);
    }
  };
}
