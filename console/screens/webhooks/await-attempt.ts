import type { WebhookDelivery } from '../../../schemas/resources/webhook-deliveries.ts';
import { outcomeText } from './attempt-outcome.ts';

type Seen = Pick<WebhookDelivery, 'status' | 'attemptsMade' | 'lastStatus' | 'lastError'>;

/** An attempt ends within 15 s, and is begun and recorded within about a second each. */
const WITHIN = { looks: 40, everyMs: 500 };

/** What to say of the next attempt of a delivery, once it was made. Rejects where it cannot be read. */
export async function awaitAttempt(
  before: Pick<Seen, 'attemptsMade'>,
  read: () => Promise<Seen>,
  { looks, everyMs } = WITHIN,
): Promise<string> {
  for (let look = 0; look < looks; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    const seen = await read();
    if (seen.status === 'succeeded') return 'The event arrived.';
    if (seen.attemptsMade > before.attemptsMade) return failureOf(seen);
    if (seen.status !== 'pending') return `No attempt was made: the delivery is ${seen.status}.`;
  }
  return `No attempt was made within ${Math.round((looks * everyMs) / 1_000)} s. It is still waiting.`;
}

function failureOf({ lastStatus, lastError, status }: Seen): string {
  const outcome = outcomeText({ status: lastStatus, error: lastError });
  return `The attempt failed. ${outcome}. ${status === 'pending' ? 'Another one follows.' : 'It was the last.'}`;
}
