import type { PeriodLength } from '../../domain/rules/billing-period.ts';
import { hasEnded } from '../../domain/rules/subscription-status.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { Mode } from '../../schemas/primitives/environment.ts';
import type { SubscriptionStatus } from '../../schemas/value-sets.ts';
import { checkOf } from '../http/json-schema.ts';
import {
  StripeEvent,
  type StripePeriod,
  type StripeSubscription,
  StripeSubscriptionEvent,
} from './event-shapes.ts';
import { type EventItem, itemsOf, lengthOf, referencesOf } from './subscription-items.ts';
import { TOLERANCE_SECONDS } from './verify-signature.ts';

/** What the processor reports of a subscription, and when. Stored as JSON while it waits. */
export interface SubscriptionEvent {
  id: string;
  type: string;
  processorSubscriptionId: string;
  /** Milliseconds; a later one is newer, see {@link orderedMs}. */
  changedAtMs: number;
  /** Its times are those of a test clock, and unrelated to ours. */
  isSimulated: boolean;
  status: SubscriptionStatus;
  /** When it got there. */
  statusSinceMs: number;
  /** Absent, like the following fields, if the event does not contain it. */
  period?: Span;
  /** The length of the following periods. */
  length?: PeriodLength;
  cancelAtMs?: number | null;
  trialEndMs?: number | null;
  items?: EventItem[];
  /** It has items in addition to these. */
  hasMoreItems?: true;
  processorCustomerId?: string;
  /** Our own id of the customer or its externalId: `metadata.customerId`. */
  customerName?: string;
  /** The session of the pricing funnel: `metadata.sessionId`. */
  sessionId?: string;
}

/**
 * Reads an event of the processor; undefined if it is not about a subscription. Throws Rejected
 * `invalid_json`, and `invalid_request` for an event of the other mode and for a subscription that cannot be
 * read: the processor shows that to its owner.
 */
export function readSubscriptionEvent(
  text: string,
  { mode, nowMs }: { mode: Mode; nowMs: number },
): SubscriptionEvent | undefined {
  const event = parse(text);
  checkEvent(event);
  const { id, type, created, livemode } = event as StripeEvent;
  requireMode(livemode, mode);
  if (!type.startsWith('customer.subscription.')) return undefined;
  checkSubscriptionEvent(event);
  const { object } = (event as StripeSubscriptionEvent).data;
  const isSimulated = mode === 'test' && object.test_clock != null;
  if (!isSimulated) requireHappened(created, nowMs);
  const status = statusOf(object, type);
  const period = periodOf(object);
  return {
    id,
    type,
    processorSubscriptionId: object.id,
    changedAtMs: orderedMs(created, type, status),
    isSimulated,
    status,
    statusSinceMs: 1000 * ((hasEnded(status) ? object.ended_at : null) ?? created),
    ...(period === undefined ? {} : { period }),
    ...present('cancelAtMs', cancelAtOf(object, period)),
    ...present('trialEndMs', milliseconds(object.trial_end)),
    ...lengthOf(object),
    ...itemsOf(object),
    ...referencesOf(object),
  };
}

const CREATED = 'customer.subscription.created';
const DELETED = 'customer.subscription.deleted';

const checkEvent = checkOf(StripeEvent);
const checkSubscriptionEvent = checkOf(StripeSubscriptionEvent);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Rejected('invalid_json', 'The body is not valid JSON.');
  }
}

/** Throws Rejected. An event without a mode has the mode of the secret that signed it. */
function requireMode(livemode: boolean | null | undefined, mode: Mode): void {
  if (livemode == null || livemode === (mode === 'live')) return;
  const other = livemode ? 'live' : 'test';
  throw new Rejected(
    'invalid_request',
    `The event is of ${other} mode (\`livemode\` is ${livemode}), but this URL receives events of ${mode} ` +
      `mode. Send it to the URL that ends in /${other}.`,
    { param: 'livemode' },
  );
}

/** Throws Rejected: all later events would be older than one from the future, and ignored. */
function requireHappened(created: number, nowMs: number): void {
  if (created * 1000 <= nowMs + TOLERANCE_SECONDS * 1000) return;
  throw new Rejected('invalid_request', '`created` is more than 5 minutes in the future.', {
    param: 'created',
  });
}

/** While payment collection is paused, the processor's own status stays what it was. */
function statusOf(object: StripeSubscription, type: string): SubscriptionStatus {
  const { status, pause_collection: pause } = object;
  if (type === DELETED && !hasEnded(status)) return 'canceled';
  return pause && PAUSED_FROM.includes(status) ? 'paused' : status;
}

/** Other types return only the reason. */
const PAUSED_FROM: SubscriptionStatus[] = ['trialing', 'active', 'past_due'];

/**
 * The processor's times have whole seconds, and a checkout creates several events in one. Within a second the
 * creation comes first and the end last, which the milliseconds express; of the others the one that arrived
 * later counts.
 */
function orderedMs(created: number, type: string, status: SubscriptionStatus): number {
  if (hasEnded(status)) return created * 1000 + 2;
  return created * 1000 + (type === CREATED ? 0 : 1);
}

/**
 * The position of a change made here in that order: among the processor's events of the same second it counts
 * like an event that arrived when the change was made.
 */
export function localOrderMs(changedAt: Date, status: SubscriptionStatus): number {
  return Math.floor(changedAt.getTime() / 1000) * 1000 + (hasEnded(status) ? 2 : 1);
}

/** The subscription's own period, else that of the item which ends first. An empty period is ignored. */
function periodOf({ items, ...own }: StripeSubscription): Span | undefined {
  const spans = (items?.data ?? []).flatMap(spanOf);
  return spanOf(own)[0] ?? spans.sort((a, b) => a.toMs - b.toMs)[0];
}

function spanOf({ current_period_start: from, current_period_end: to }: StripePeriod): Span[] {
  return typeof from === 'number' && typeof to === 'number' && from < to
    ? [{ fromMs: from * 1000, toMs: to * 1000 }]
    : [];
}

function cancelAtOf(object: StripeSubscription, period: Span | undefined): number | null | undefined {
  const { cancel_at: cancelAt, cancel_at_period_end: atPeriodEnd } = object;
  return typeof cancelAt !== 'number' && atPeriodEnd && period ? period.toMs : milliseconds(cancelAt);
}

function milliseconds(seconds: number | null | undefined): number | null | undefined {
  return typeof seconds === 'number' ? seconds * 1000 : seconds;
}

function present<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [name in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [name in Name]?: Value });
}
