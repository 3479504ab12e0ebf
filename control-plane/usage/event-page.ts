import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { UsageEventList } from '../../schemas/resources/usage.ts';
import { BOOLEAN_TAG, propertyJson } from '../../schemas/stored/event-row.ts';
import { cursorOf, isText, readCursor } from '../http/cursor.ts';
import type { EventPlace, StoredEvent } from '../store/read-usage-events.ts';
import type { CustomerMeter } from './customer-meter.ts';
import { type EventLinks, NO_LINKS } from './event-links.ts';

type UsageEvent = UsageEventList['data'][number];

/** `events` has one more entry than `limit` if another page follows. */
export function eventPage(
  events: StoredEvent[],
  limit: number,
  { customerId, meter }: CustomerMeter,
  links: EventLinks,
): Pick<UsageEventList, 'data' | 'nextCursor'> {
  const page = events.slice(0, limit);
  const last = events.length > limit ? page.at(-1) : undefined;
  return {
    data: page.map((event) => shownEvent(event, { customerId, meterKey: meter.key }, links)),
    ...(last ? { nextCursor: cursorAfter(last) } : {}),
  };
}

/** A stored event as the response of its own request showed it. */
export function shownEvent(
  event: StoredEvent,
  { customerId, meterKey }: { customerId: string; meterKey: string },
  links: EventLinks = NO_LINKS,
): UsageEvent {
  const supersedes = links.supersedes.get(event.change);
  const supersededBy = event.isVoided ? links.supersededBy.get(event.id) : undefined;
  return {
    id: event.id,
    customerId,
    meterId: meterKey,
    eventName: 'usage.recorded',
    value: exactNumber(unitsText(decimalUnits(event.value))),
    status: event.isVoided ? 'voided' : 'recorded',
    occurredAt: timestampText(event.occurredAtMs),
    createdAt: timestampText(event.createdAtMs),
    ...(event.properties.length === 0 ? {} : { properties: shownProperties(event.properties) }),
    ...(supersedes === undefined ? {} : { supersedes }),
    ...(supersededBy === undefined ? {} : { supersededBy }),
  };
}

/** A Map keeps the order of the names; an object would put names that look like numbers first. */
export function shownProperties(
  properties: StoredEvent['properties'],
): NonNullable<UsageEvent['properties']> {
  const shown = properties.map(([name, stored]): [string, string | boolean] => [name, shownProperty(stored)]);
  return new Map(shown) as unknown as NonNullable<UsageEvent['properties']>;
}

function shownProperty(stored: string): string | boolean {
  if (stored.charCodeAt(0) !== 0) return stored;
  const json = propertyJson(stored);
  return stored.startsWith(BOOLEAN_TAG) ? json === 'true' : exactNumber(json);
}

/** Opaque to clients: the end of the previous page. */
export function cursorAfter({ occurredAtMs, id }: EventPlace): string {
  return cursorOf([occurredAtMs, id]);
}

/** Far beyond any usage, and within the range of the warehouse's DateTime64. */
const DATE_MS_MAX = Date.UTC(2200, 0, 1);

/** The position in a cursor. Throws Rejected for any other text. */
export function placeOf(cursor: string): EventPlace {
  const [occurredAtMs, id] = readCursor(cursor, isPlace);
  return { occurredAtMs, id };
}

function isPlace(values: unknown[]): values is [number, string] {
  const [occurredAtMs, id] = values;
  return Number.isInteger(occurredAtMs) && Math.abs(Number(occurredAtMs)) <= DATE_MS_MAX && isText(id);
}
