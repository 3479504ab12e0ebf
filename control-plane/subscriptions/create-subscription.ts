import { Defect, Rejected } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import type { NewSubscription } from '../../schemas/resources/subscriptions.ts';
import type { RequestContext } from '../http/request-context.ts';
import { readMetadata } from '../input/read-metadata.ts';
import { putSubscriptionAddon } from '../store/subscription-addons.ts';
import {
  findSubscription,
  insertSubscription,
  type SubscriptionFields,
  type SubscriptionRow,
} from '../store/subscriptions.ts';
import { processorIdTaken, recordSubscription } from './change-subscription.ts';
import { firstTerm } from './first-term.ts';
import { givenTime, requireTrialAhead } from './read-times.ts';
import { attachedAddon, requireVersion, subscribedPlan, subscribingCustomer } from './subscribed-objects.ts';
import { fieldsOfTerm } from './subscription-fields.ts';

/** Throws Rejected: first for the fields, then for the objects that they name. */
export async function createSubscription(
  context: RequestContext,
  { body, bodyText }: { body: NewSubscription; bodyText: string },
): Promise<SubscriptionRow> {
  const { db, environment, nowMs } = context;
  const term = termOf(body, nowMs);
  const metadata = readMetadata(bodyText) ?? null;
  const customerId = await subscribingCustomer(context, body.customerId);
  const plan = await subscribedPlan(context, body.planId);
  if (body.planVersion !== undefined) requireVersion(plan, body.planVersion);
  const addons = await namedAddons(context, body.addons ?? []);
  const createdAt = new Date(nowMs);
  const row = { ...term, id: newId('sub'), customerId, planId: plan.id, metadata, createdAt };
  const inserted = await insertSubscription(db, environment, row);
  if (!inserted) throw processorIdTaken();
  for (const addon of addons) await putSubscriptionAddon(db, row.id, addon);
  const created = await findSubscription(db, environment, row.id);
  if (!created) throw new Defect('a subscription of this transaction is missing');
  await recordSubscription(context, undefined, created);
  return created;
}

/** With the defaults that openapi.json states. */
function termOf(body: NewSubscription, nowMs: number): Omit<SubscriptionFields, 'planId' | 'metadata'> {
  const trialEnd = givenTime(body.trialEnd) ?? null;
  const isTrialAhead = trialEnd !== null && trialEnd.getTime() > nowMs;
  const status = body.status ?? (isTrialAhead ? 'trialing' : 'active');
  if (status === 'trialing') requireTrialAhead(trialEnd, nowMs);
  const term = firstTerm(body, { nowMs, trialEnd: status === 'trialing' ? trialEnd : null });
  return {
    ...fieldsOfTerm(term),
    startsAt: new Date(term.period.fromMs),
    cancelsAtPeriodEnd: false,
    pendingPlanId: null,
    noRollBefore: null,
    status,
    statusSince: new Date(nowMs),
    trialEnd,
    cancelAt: givenTime(body.cancelAt) ?? null,
    canceledAt: null,
    planVersion: body.planVersion ?? null,
    processorSubscriptionId: body.processorSubscriptionId ?? null,
    processorChangedAt: null,
    localChangedAt: null,
    processorCancelAt: null,
    processorSimulated: false,
  };
}

type Attached = SubscriptionRow['addons'][number];

/** Throws Rejected for an add-on that is unknown, or named twice, also once by id and once by key. */
async function namedAddons(context: RequestContext, given: Attached[]): Promise<Attached[]> {
  const named = new Map<string, Attached>();
  for (const [at, { addonId: name, quantity }] of given.entries()) {
    const param = `addons.${at}.addonId`;
    const addonId = await attachedAddon(context, name, param);
    if (named.has(addonId)) {
      throw new Rejected('invalid_request', `The add-on ${name} is repeated.`, { param });
    }
    named.set(addonId, { addonId, quantity });
  }
  return [...named.values()];
}
