import { gatherNotes, type Note } from '../../../domain/store/send-invalidations.ts';
import type { RunChange } from '../../http/idempotent.ts';

/**
 * A change is heard by the memory of its own process before it is answered, so that whoever made it sees it
 * in what it asks next. To every other process it comes by NOTIFY.
 */
export function withLocalInvalidation(
  runChange: RunChange,
  hear: (channel: string, payload: string) => void,
): RunChange {
  return async (request, change) => {
    const notes: Note[] = [];
    try {
      return await runChange(request, (client) => gatherNotes(client, notes, () => change(client)));
    } finally {
      // Also where it failed: nobody knows of every commit that failed. To forget too much does no harm.
      for (const { channel, payload } of notes) hear(channel, payload);
    }
  };
}
