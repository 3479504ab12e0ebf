import { type Static, Type } from 'typebox';
import { Rejected } from '../../schemas/failures.ts';
import type { Span } from '../../schemas/rules/calendar.ts';
import {
  hasEnded,
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from '../../schemas/rules/subscription-status.ts';
import { checkOf } from '../json-schema.ts';
import { TOLERANCE_SECONDS } from './verify-signature.ts';

/** What the processor says of a subscription, and when it said so. */
export interface SubscriptionEvent {
  id: string;
  processorSubscriptionId: string;
  /** Milliseconds; a later one is newer, see {@link orderedMs}. */
  changedAtMs: number;
  status: SubscriptionStatus;
  /** When it got there. */
  statusSinceMs: number;
  /** Absent, like the two below, where the event does not say. */
  period?: Span;
  cancelAtMs?: number | null;
  trialEndMs?: number | null;
}

/**
 * Reads an event of the processor; undefined where it is of no subscription. Throws Rejected `invalid_json`,
 * and `invalid_request` for a subscription that cannot be understood: the processor shows that to its owner.
 */
export function readSubscriptionEvent(text: string, nowMs: number): SubscriptionEvent | undefined {
  const event = parse(text);
  checkEvent(event);
  const { id, type, created } = event as Static<typeof AnyEvent>;
  if (!type.startsWith('customer.subscription.')) return undefined;
  requireHappened(created, nowMs);
  checkSubscriptionEvent(event);
  const { object } = (event as Static<typeof StripeEvent>).data;
  const status = type === DELETED && !hasEnded(object.status) ? 'canceled' : object.status;
  const period = periodOf(object);
  return {
    id,
    processorSubscriptionId: object.id,
    changedAtMs: orderedMs(created, type, status),
    status,
    statusSinceMs: 1000 * ((hasEnded(status) ? object.ended_at : null) ?? created),
    ...(period === undefined ? {} : { period }),
    ...present('cancelAtMs', cancelAtOf(object, period)),
    ...present('trialEndMs', milliseconds(object.trial_end)),
  };
}

const CREATED = 'customer.subscription.created';
const DELETED = 'customer.subscription.deleted';

/** Unix time, up to the end of what our own timestamps may be. */
const Seconds = Type.Integer({ minimum: 0, maximum: Date.UTC(2100, 0, 1) / 1000 - 1 });
const MaybeSeconds = Type.Optional(Type.Union([Seconds, Type.Null()]));
const Id = Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$' });

/** Since the API version of 2025-03-31 it is the items that have it. */
const Period = { current_period_start: MaybeSeconds, current_period_end: MaybeSeconds };

const StripeSubscription = Type.Object({
  id: Id,
  status: Type.Enum([...SUBSCRIPTION_STATUSES]),
  ...Period,
  items: Type.Optional(Type.Object({ data: Type.Array(Type.Object(Period)) })),
  cancel_at: MaybeSeconds,
  cancel_at_period_end: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  trial_end: MaybeSeconds,
  ended_at: MaybeSeconds,
});
type StripeSubscription = Static<typeof StripeSubscription>;

const AnyEvent = Type.Object({ id: Id, type: Type.String(), created: Seconds });
const StripeEvent = Type.Object({ data: Type.Object({ object: StripeSubscription }) });

const checkEvent = checkOf(AnyEvent);
const checkSubscriptionEvent = checkOf(StripeEvent);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Rejected('invalid_json', 'The body is not valid JSON.');
  }
}

/** Throws Rejected: beside one that lies ahead everything else would be older, and count for nothing. */
function requireHappened(created: number, nowMs: number): void {
  if (created * 1000 <= nowMs + TOLERANCE_SECONDS * 1000) return;
  throw new Rejected('invalid_request', '`created` lies more than 5 minutes ahead.', { param: 'created' });
}

/**
 * The processor's time has whole seconds, and a checkout makes several events in one. Within a second the
 * creation comes first and the end last, which is what the milliseconds say; of the rest the one that came
 * later counts.
 */
function orderedMs(created: number, type: string, status: SubscriptionStatus): number {
  if (hasEnded(status)) return created * 1000 + 2;
  return created * 1000 + (type === CREATED ? 0 : 1);
}

/** The subscription's own, else that of its item which ends first. An empty one says nothing. */
function periodOf({ items, ...own }: StripeSubscription): Span | undefined {
  const spans = [own, ...(items?.data ?? [])].flatMap(spanOf);
  return spanOf(own)[0] ?? spans.sort((a, b) => a.toMs - b.toMs)[0];
}

function spanOf(place: Static<ReturnType<typeof Type.Object<typeof Period>>>): Span[] {
  const { current_period_start: from, current_period_end: to } = place;
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
