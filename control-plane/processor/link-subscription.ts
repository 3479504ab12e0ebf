import type { RequestContext } from '../request-context.ts';
import { lockProcessorEvents } from '../store/processor-events.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import { matchSubscription } from './match-subscription.ts';

/**
 * Makes a change that may link a subscription to one of the processor's, and applies what the processor told
 * of it before, in the same transaction.
 */
export async function linkSubscription(
  context: RequestContext,
  processorSubscriptionId: string | undefined,
  change: () => Promise<SubscriptionRow>,
): Promise<SubscriptionRow> {
  if (processorSubscriptionId === undefined) return change();
  // Before any other lock, as where an event comes.
  await lockProcessorEvents(context.db, context.environment, processorSubscriptionId);
  const row = await change();
  const toldContext = { ...context, actor: 'processor', operationId: 'processor.receiveEvent' };
  return (await matchSubscription(toldContext, processorSubscriptionId)) ?? row;
}
