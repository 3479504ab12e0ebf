/**
 * The objects that a body names, found and locked for the transaction, always in one order: customer, plan,
 * add-ons.
 */
import { Rejected } from '../../schemas/failures.ts';
import {
  CUSTOMER_SUBSCRIPTIONS_MAX,
  SUBSCRIPTION_ADDONS_MAX,
} from '../../schemas/resources/subscriptions.ts';
import type { RequestContext } from '../http/request-context.ts';
import {
  countLivingSubscriptions,
  lockSubscriber,
  type SubscribedPlan,
  sharePlan,
} from '../store/subscribed.ts';
import { findAddonId } from '../store/subscription-addons.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';

/**
 * Throws Rejected: `customer_not_found`, `customer_archived`, or when it has the maximum number of
 * subscriptions.
 */
export async function subscribingCustomer(
  { db, environment }: RequestContext,
  name: string,
): Promise<string> {
  const customer = await lockSubscriber(db, environment, name);
  const param = 'customerId';
  if (!customer) throw new Rejected('customer_not_found', `There is no customer ${name}.`, { param });
  if (customer.status !== 'active') {
    throw new Rejected('customer_archived', 'The customer is archived and takes no new subscriptions.', {
      param,
    });
  }
  const living = await countLivingSubscriptions(db, environment, customer.id);
  if (living < CUSTOMER_SUBSCRIPTIONS_MAX) return customer.id;
  const message =
    `A customer can have at most ${CUSTOMER_SUBSCRIPTIONS_MAX} subscriptions that have not ended. ` +
    'Cancel or change one of them.';
  throw new Rejected('invalid_request', message, { param });
}

/** Throws Rejected `plan_not_found`, or `plan_archived` unless it is the plan that the subscription has. */
export async function subscribedPlan(
  { db, environment }: RequestContext,
  name: string,
  ownPlanId?: string,
): Promise<SubscribedPlan> {
  const plan = await sharePlan(db, environment, name);
  const param = 'planId';
  if (!plan) throw new Rejected('plan_not_found', `There is no plan ${name}.`, { param });
  if (plan.status !== 'archived' || plan.id === ownPlanId) return plan;
  throw new Rejected('plan_archived', 'The plan is archived and takes no new subscriptions.', { param });
}

/** Throws Rejected: every version from the first to the newest exists. */
export function requireVersion({ version: newest }: SubscribedPlan, version: number): void {
  if (version <= newest) return;
  throw new Rejected('invalid_request', `The newest version of this plan is ${newest}.`, {
    param: 'planVersion',
  });
}

/** By id or key. Throws Rejected `not_found`. */
export async function attachedAddon(
  { db, environment }: RequestContext,
  name: string,
  param: string,
): Promise<string> {
  const id = await findAddonId(db, environment, name);
  if (id !== undefined) return id;
  throw new Rejected('not_found', `There is no add-on ${name}.`, { param });
}

/** Throws Rejected. */
export function requireRoomForAddon({ addons }: SubscriptionRow, addonId: string): void {
  if (addons.length < SUBSCRIPTION_ADDONS_MAX || addons.some((one) => one.addonId === addonId)) return;
  const message = `A subscription can have at most ${SUBSCRIPTION_ADDONS_MAX} add-ons.`;
  throw new Rejected('invalid_request', message, { param: 'addonId' });
}
