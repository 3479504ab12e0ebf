import type { RequestContext } from '../http/request-context.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import { applyWaiting, holdWaiting } from './match-subscription.ts';

/**
 * Makes a change that may link a subscription to one of the processor's, and applies the processor's earlier
 * events of it, in the same transaction.
 */
export async function linkSubscription(
  context: RequestContext,
  processorSubscriptionId: string | undefined,
  change: () => Promise<SubscriptionRow>,
): Promise<SubscriptionRow> {
  if (processorSubscriptionId === undefined) return change();
  const waiting = await holdWaiting(context, processorSubscriptionId);
  const row = await change();
  const notifiedContext = { ...context, actor: 'processor', operationId: 'processor.receiveEvent' };
  return (await applyWaiting(notifiedContext, processorSubscriptionId, waiting)) ?? row;
}
