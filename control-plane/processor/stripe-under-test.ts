import { Stripe } from 'stripe';

/**
 * Events as the processor's API versions print them, written by hand from the published reference of each:
 * with only a few of the fields that are not read here, to show that they are not. Source:
 * https://docs.stripe.com/api/subscriptions/object and https://docs.stripe.com/changelog/
 */
export const API_VERSIONS = ['2022-11-15', '2024-06-20', '2025-03-31.basil', '2025-09-30.clover'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

/** A subscription independent of any version's format. Times in seconds. */
export interface ReportedSubscription {
  id: string;
  status?: string;
  customer?: string;
  items?: Array<{ price: string; quantity?: number | null }>;
  period?: [from: number, to: number];
  cancelAt?: number | null;
  cancelAtPeriodEnd?: boolean;
  trialEnd?: number | null;
  endedAt?: number | null;
  paused?: boolean;
  testClock?: string;
  metadata?: Record<string, string>;
}

export interface EmittedEvent {
  id?: string;
  type?: 'created' | 'updated' | 'deleted' | 'paused' | 'resumed' | 'trial_will_end';
  /** Seconds. */
  created: number;
  livemode?: boolean;
  version?: ApiVersion;
  subscription: ReportedSubscription;
}

let made = 0;

export function eventText(notified: EmittedEvent): string {
  made += 1;
  const {
    id = `evt_1Made${String(made).padStart(6, '0')}`,
    type = 'updated',
    created,
    livemode = true,
    subscription,
  } = notified;
  const { version = '2024-06-20' } = notified;
  return JSON.stringify({
    id,
    object: 'event',
    api_version: version,
    created,
    data: { object: subscriptionObject(subscription, version, { created, livemode }) },
    livemode,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: `customer.subscription.${type}`,
  });
}

interface Around {
  created: number;
  livemode: boolean;
}

function subscriptionObject(
  notified: ReportedSubscription,
  version: ApiVersion,
  { created, livemode }: Around,
) {
  const { id, items = [{ price: 'price_1Unmapped' }], period = [created, created + 2_592_000] } = notified;
  const [from, to] = period;
  const isPeriodOfItems = version >= '2025';
  const spans = { current_period_start: from, current_period_end: to };
  return {
    id,
    object: 'subscription',
    ...(isPeriodOfItems ? { billing_mode: { type: 'classic' } } : spans),
    billing_cycle_anchor: from,
    cancel_at: notified.cancelAt ?? null,
    cancel_at_period_end: notified.cancelAtPeriodEnd ?? false,
    canceled_at: notified.endedAt ?? null,
    collection_method: 'charge_automatically',
    created: from,
    currency: 'eur',
    customer: notified.customer ?? 'cus_1Unknown',
    ended_at: notified.endedAt ?? null,
    items: {
      object: 'list',
      data: items.map((item, at) => ({
        id: `si_${id}_${at}`,
        object: 'subscription_item',
        ...(isPeriodOfItems ? spans : {}),
        ...pricesOf(item, version),
        subscription: id,
      })),
      has_more: false,
      total_count: items.length,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: null,
    livemode,
    metadata: notified.metadata ?? {},
    pause_collection: notified.paused ? { behavior: 'void', resumes_at: null } : null,
    ...(version < '2025' ? legacyPlan(items) : {}),
    start_date: from,
    status: notified.status ?? 'active',
    test_clock: notified.testClock ?? null,
    trial_end: notified.trialEnd ?? null,
    trial_start: notified.trialEnd ? from : null,
  };
}

type Item = NonNullable<ReportedSubscription['items']>[number];

function pricesOf({ price: id, quantity = 1 }: Item, version: ApiVersion) {
  const recurring = { interval: 'month', interval_count: 1, usage_type: 'licensed' };
  const price = { id, object: 'price', active: true, currency: 'eur', recurring, unit_amount: 900 };
  const plan = { id, object: 'plan', active: true, amount: 900, interval: 'month', interval_count: 1 };
  const counted = quantity === null ? {} : { quantity };
  // In all four versions the older object exists in addition to the price; the last version is read without
  // it.
  return { price, ...(version === '2025-09-30.clover' ? {} : { plan }), ...counted };
}

/** With one item also the subscription's own. */
function legacyPlan(items: Item[]) {
  const [only, ...others] = items;
  return only && others.length === 0
    ? { plan: { id: only.price, object: 'plan' }, quantity: only.quantity ?? 1 }
    : { plan: null, quantity: null };
}

/** Signed like the processor. */
export function signatureOf(payload: string, { secret, atMs }: { secret: string; atMs: number }): string {
  const timestamp = Math.floor(atMs / 1000);
  return Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
}
