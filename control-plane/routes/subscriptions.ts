import { termPeriodAt } from '../../domain/rules/billing-period.ts';
import { hasEnded } from '../../domain/rules/subscription-status.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { linkSubscription } from '../processor/link-subscription.ts';
import { deleteSubscriptionAddon, putSubscriptionAddon } from '../store/subscription-addons.ts';
import {
  findSubscription,
  listSubscriptions,
  lockSubscription,
  type SubscriptionFields,
  type SubscriptionRow,
} from '../store/subscriptions.ts';
import { changeLocally, stampAddonChange } from '../subscriptions/change-locally.ts';
import { recordSubscription } from '../subscriptions/change-subscription.ts';
import { createSubscription } from '../subscriptions/create-subscription.ts';
import { endOfTerm } from '../subscriptions/end-of-term.ts';
import { ended, patchSubscription, requireTransition } from '../subscriptions/patch-subscription.ts';
import { shownSubscription } from '../subscriptions/shown-subscription.ts';
import { attachedAddon, requireRoomForAddon } from '../subscriptions/subscribed-objects.ts';
import { movedTo, termOfRow } from '../subscriptions/subscription-fields.ts';

type SubscriptionOperation = Extract<keyof Handlers, `subscriptions.${string}`>;

export const subscriptionHandlers: Pick<Handlers, SubscriptionOperation> = {
  'subscriptions.list': async ({ db, environment }, { query }) => {
    const { rows, total } = await listSubscriptions(db, environment, query);
    return pageOf(rows.map(shownSubscription), total, query);
  },

  'subscriptions.create': async (context, input) => {
    const { processorSubscriptionId } = input.body;
    const create = () => createSubscription(context, input);
    return shownSubscription(await linkSubscription(context, processorSubscriptionId, create));
  },

  'subscriptions.retrieve': async ({ db, environment }, { params: { subscriptionId } }) =>
    shownSubscription((await findSubscription(db, environment, subscriptionId)) ?? notFound(subscriptionId)),

  'subscriptions.update': async (context, { params, ...input }) => {
    const patch = async () =>
      patchSubscription(context, await lockedSubscription(context, params.subscriptionId), input);
    return shownSubscription(await linkSubscription(context, input.body.processorSubscriptionId, patch));
  },

  'subscriptions.cancel': async (context, { params, body }) => {
    const row = await lockedSubscription(context, params.subscriptionId);
    requireTransition(row, 'canceled');
    if (row.status === 'canceled') return shownSubscription(row);
    const now = new Date(context.nowMs);
    const fields = body.at === 'now' ? movedTo(row, 'canceled', now) : cancellationAtEnd(row, now);
    return shownSubscription(await changeLocally(context, row, fields));
  },

  'subscriptions.setAddon': async (context, { params, body }) => {
    const row = await lockedSubscription(context, params.subscriptionId);
    if (hasEnded(row.status)) throw ended(row);
    const addonId = await attachedAddon(context, params.addonId, 'addonId');
    requireRoomForAddon(row, addonId);
    await putSubscriptionAddon(context.db, row.id, { addonId, quantity: body.quantity });
    return shownSubscription(await recordAddons(context, row));
  },

  'subscriptions.removeAddon': async (context, { params }) => {
    const row = await lockedSubscription(context, params.subscriptionId);
    if (hasEnded(row.status)) throw ended(row);
    const addonId = await attachedAddon(context, params.addonId, 'addonId');
    if (!(await deleteSubscriptionAddon(context.db, row.id, addonId))) throw notAttached(params.addonId);
    await recordAddons(context, row);
    return {};
  },
};

/** As its caller saw it, and locked. */
async function lockedSubscription(context: RequestContext, id: string): Promise<SubscriptionRow> {
  const row = (await lockSubscription(context.db, context.environment, id)) ?? notFound(id);
  requireMatch(context, shownSubscription(row));
  return row;
}

/** At the end of the running trial or period; an earlier cancellation stays. */
function cancellationAtEnd(row: SubscriptionRow, now: Date): Partial<SubscriptionFields> {
  const end = runningEnd(row, now);
  const isSooner = row.cancelAt !== null && row.cancelAt < end && !row.cancelsAtPeriodEnd;
  return isSooner ? {} : { cancelAt: end, cancelsAtPeriodEnd: true };
}

/** Whether or not its period is stored already. */
function runningEnd(row: SubscriptionRow, now: Date): Date {
  const end = endOfTerm(row);
  return end > now ? end : new Date(termPeriodAt(termOfRow(row), now.getTime()).toMs);
}

async function recordAddons(context: RequestContext, before: SubscriptionRow): Promise<SubscriptionRow> {
  const after = await findSubscription(context.db, context.environment, before.id);
  if (!after) throw new Defect('a locked subscription is missing');
  await stampAddonChange(context, before, after);
  await recordSubscription(context, before, after);
  return after;
}

function notAttached(addonId: string): Rejected {
  const message = `The add-on ${addonId} is not attached to this subscription.`;
  return new Rejected('not_found', message, { param: 'addonId' });
}

function notFound(id: string): never {
  throw new Rejected('subscription_not_found', `There is no subscription ${id}.`, {
    param: 'subscriptionId',
  });
}
