import { askToChange } from '../../api/change.tsx';
import { readAgain } from '../../api/reads.ts';
import { apiPath, fetchOperation } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import { say } from '../../design/toasts.tsx';
import { awaitAttempt } from './await-attempt.ts';
import type { Delivery } from './delivery-columns.tsx';

type Replayed = Responded<'webhookDeliveries.replay'>;

export function askToReplay({ id, eventType, status }: Delivery): void {
  askToChange({
    title: `Replay ${eventType}?`,
    effect:
      status === 'pending'
        ? 'It is still pending: its next attempt is made at once, also where the endpoint is paused.'
        : 'A new delivery of the same event is made, with the same event id, bytes and ten attempts.',
    verb: 'Replay',
    request: { method: 'POST', path: apiPath(['webhooks', 'deliveries', id, 'replay']) },
    done: 'The delivery is on its way again.',
    onDone: (body) => followAttempt(body as Replayed),
  });
}

/** Says how the attempt that was asked for ended, and shows it. */
export function followAttempt(delivery: Replayed): void {
  const path = apiPath(['webhooks', 'deliveries', delivery.id]);
  const read = () => fetchOperation<'webhookDeliveries.retrieve'>({ path });
  awaitAttempt(delivery, read).then(
    (text) => {
      say(text);
      readAgain();
    },
    // What the screen shows is read again by itself, and says what failed.
    () => undefined,
  );
}
