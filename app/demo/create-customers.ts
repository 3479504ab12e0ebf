import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { BodyOf, Call } from './api-client.ts';
import { ADDON, type PlanKey } from './catalogue.ts';
import { sessionOf } from './create-funnel.ts';
import { CUSTOMERS, type DemoCustomer } from './customers.ts';
import { inGroups } from './in-groups.ts';
import { DAY_MS, periodStartOf, startOf } from './usage-events.ts';

interface World {
  call: Call;
  /** The time that everything is relative to. */
  nowMs: number;
  planIds: ReadonlyMap<PlanKey, string>;
}

/** Creates the customers with their subscriptions, and returns the ids of those by customer. */
export async function createCustomers(world: World): Promise<Map<DemoCustomer, string>> {
  const { call } = world;
  const subscriptionIds = new Map<DemoCustomer, string>();
  await inGroups(CUSTOMERS, async (customer) => {
    const { name, slug, region } = customer;
    const body = { name, email: `billing@${slug}.example`, externalId: slug, metadata: { region } };
    await call('customers.create', { body, key: `demo/customer/${slug}` });
    const subscription = subscriptionOf(customer, world);
    const { id } = await call('subscriptions.create', {
      body: subscription,
      key: `demo/subscription/${slug}`,
    });
    subscriptionIds.set(customer, id);
  });
  return subscriptionIds;
}

function subscriptionOf(customer: DemoCustomer, world: World): BodyOf<'subscriptions.create'> {
  const { nowMs, planIds } = world;
  const { slug, plan, interval, story } = customer;
  const sessionId = sessionOf(customer);
  const term =
    story?.trialDaysLeft === undefined
      ? { billingAnchor: timestampText(periodStartOf(customer, nowMs)) }
      : { trialEnd: timestampText(nowMs + story.trialDaysLeft * DAY_MS) };
  return {
    customerId: slug,
    planId: planIds.get(plan) ?? plan,
    interval,
    currentPeriodStart: timestampText(startOf(customer, nowMs)),
    ...term,
    ...(story?.extraSeats ? { addons: [{ addonId: ADDON.created.key, quantity: story.extraSeats }] } : {}),
    ...(sessionId === undefined ? {} : { metadata: { sessionId } }),
  };
}

/** Credits, overrides and budgets of single customers. */
export async function createAgreements(call: Call, nowMs: number): Promise<void> {
  const expiry = (days: number | undefined) =>
    days === undefined ? {} : { expiresAt: timestampText(nowMs + days * DAY_MS) };
  for (const { slug: customerId, story = {} } of CUSTOMERS) {
    for (const [at, { expiresInDays, ...grant }] of (story.credits ?? []).entries()) {
      const body = { ...grant, priority: 100, ...expiry(expiresInDays) };
      await call('credits.grant', { params: { customerId }, body, key: `demo/credits/${at}` });
    }
    if (story.override) {
      const { featureKey, expiresInDays, ...override } = story.override;
      const body = { ...override, ...expiry(expiresInDays) };
      await call('overrides.put', { params: { customerId, featureKey }, body });
    }
    if (story.budget) {
      const { meterKey, ...body } = story.budget;
      await call('budgets.put', { params: { customerId, meterKey }, body });
    }
  }
}

/** The last step: what is canceled or paused takes part in all of the others. */
export async function moveSubscriptions(
  call: Call,
  subscriptionIds: ReadonlyMap<DemoCustomer, string>,
): Promise<void> {
  for (const [{ story }, subscriptionId] of subscriptionIds) {
    const params = { subscriptionId };
    if (story?.becomes === 'past_due' || story?.becomes === 'paused') {
      await call('subscriptions.update', { params, body: { status: story.becomes } });
    }
    if (story?.becomes === 'canceled') await call('subscriptions.cancel', { params, body: { at: 'now' } });
    if (story?.becomes === 'canceled_at_period_end') {
      await call('subscriptions.cancel', { params, body: { at: 'period_end' } });
    }
  }
}
