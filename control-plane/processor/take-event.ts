import type { ProcessorEventStatus } from '../../schemas/resources/integrations.ts';
import type { ChangeContext } from '../changes/record-change.ts';
import {
  findProcessorEvent,
  giveUpEvents,
  keepProcessorEvent,
  lockProcessorEvents,
} from '../store/processor-events.ts';
import { keptText, WAITING_BOUNDS } from './kept-event.ts';
import { matchSubscription } from './match-subscription.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/** The outcome of an event, and how many waiting events were dropped for it. */
export interface Taken {
  status: ProcessorEventStatus;
  givenUp: number;
}

/** Keeps an event and applies it if possible. A replay of one that was applied changes nothing. */
export async function takeEvent(context: ChangeContext, event: SubscriptionEvent): Promise<Taken> {
  const { db, environment, nowMs } = context;
  const { id, type, processorSubscriptionId, changedAtMs } = event;
  await lockProcessorEvents(db, environment, processorSubscriptionId);
  const isNew = await keepProcessorEvent(db, environment, {
    id,
    type,
    processorSubscriptionId,
    changedAt: new Date(changedAtMs),
    receivedAt: new Date(nowMs),
    reading: keptText(event),
  });
  await matchSubscription(context, processorSubscriptionId);
  const taken = await findProcessorEvent(db, environment, id);
  if (taken?.status !== 'unmatched') return { status: isNew && taken ? taken.status : 'ignored', givenUp: 0 };
  const bounds = { ...WAITING_BOUNDS, processorSubscriptionId };
  return { status: 'unmatched', givenUp: isNew ? await giveUpEvents(db, environment, bounds) : 0 };
}
