import type { Rejection } from '../../schemas/error-codes.ts';
import type { Mode } from '../../schemas/primitives/environment.ts';
import type { Item } from './decided.ts';

/** How far an event's occurredAt may lie from now, milliseconds. */
export interface EventLimits {
  ageMsMax: number;
  aheadMsMax: number;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export const UNAVAILABLE: Rejection = {
  code: 'unavailable',
  message: 'This customer or meter is temporarily unavailable. Retry the event.',
};

/** A key that is known with another fingerprint. */
export const REUSED: Rejection = {
  code: 'idempotency_key_reused',
  message: 'This idempotency key was used for another event; send a new event under a new key.',
  param: 'idempotencyKey',
};

/** Why a new event of this state is rejected. A replay skips this check: its event was accepted already. */
export function newEventRejection(
  { customer, customerMeter, keyMode }: Item,
  occurredAtMs: number,
  nowMs: number,
  limits: EventLimits,
): Rejection | undefined {
  if (customer?.archived) return CUSTOMER_ARCHIVED;
  if (!customer || !customerMeter) return unknownName({ customer, customerMeter, keyMode });
  if (customerMeter.meter.archived) return METER_ARCHIVED;
  if (occurredAtMs < nowMs - limits.ageMsMax) {
    const days = Math.round(limits.ageMsMax / DAY_MS);
    return rejection('event_too_old', `\`occurredAt\` lies more than ${days} days back.`, 'occurredAt');
  }
  if (occurredAtMs > nowMs + limits.aheadMsMax) {
    const minutes = Math.round(limits.aheadMsMax / MINUTE_MS);
    return rejection(
      'event_in_future',
      `\`occurredAt\` lies more than ${minutes} minutes ahead.`,
      'occurredAt',
    );
  }
  return undefined;
}

/**
 * The same of what a correction adds or takes away: that is of any time, and of customers and meters that
 * take no new usage.
 */
export function unknownName({
  customer,
  customerMeter,
  keyMode,
}: Pick<Item, 'customer' | 'customerMeter' | 'keyMode'>): Rejection | undefined {
  if (!customer) return keyMode === '' ? CUSTOMER_NOT_FOUND : CUSTOMER_ELSEWHERE[keyMode];
  if (!customerMeter) return keyMode === '' ? METER_NOT_FOUND : METER_ELSEWHERE[keyMode];
  return undefined;
}

const CUSTOMER_NOT_FOUND = rejection(
  'customer_not_found',
  'No customer has this id or external id in the mode of this key: test and live mode have their own.',
  'customerId',
);
const CUSTOMER_ARCHIVED = rejection('customer_archived', 'This customer is archived.', 'customerId');
const METER_NOT_FOUND = rejection(
  'meter_not_found',
  'No meter has this key, and none is made for it: the workspace is strict, has 1,000 automatic meters ' +
    'already, or the key begins with meter_ or is a dot or two.',
  'meterId',
);
const CUSTOMER_ELSEWHERE = inEachMode((mode, other) =>
  rejection(
    'customer_not_found',
    `No customer has this id or external id in ${mode} mode; one with it exists in ${other} mode.`,
    'customerId',
  ),
);
const METER_ELSEWHERE = inEachMode((mode, other) =>
  rejection(
    'meter_not_found',
    `No meter has this key or id in ${mode} mode; one with it exists in ${other} mode.`,
    'meterId',
  ),
);
const METER_ARCHIVED = rejection('meter_archived', 'This meter is archived.', 'meterId');

function rejection(code: Rejection['code'], message: string, param: string): Rejection {
  return { code, message, param };
}

function inEachMode(make: (mode: Mode, other: Mode) => Rejection): Record<Mode, Rejection> {
  return { live: make('live', 'test'), test: make('test', 'live') };
}
