/** Usage by a property of its events: the filter that a reader writes, and the property that no event has. */
import type { Report } from './explored.ts';

export interface PropertyFilter {
  property: string;
  /** '' selects events without the property. */
  value: string;
}

/** Of `region=eu`; undefined of text that is none. */
export function filterOf(text: string): PropertyFilter | undefined {
  const [, property = '', value = ''] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  return property.trim() === '' ? undefined : { property: property.trim(), value: value.trim() };
}

/** What to say of a filter; undefined of none and of one that filters. */
export function filterFault(text: string): string | undefined {
  const isNone = text.trim() === '';
  if (isNone || filterOf(text)) return undefined;
  return `Write a property and its value, such as region=eu, or for a customer customerId=${text.trim()}.`;
}

/** There is usage, and none of its events has the property that it is grouped by. */
export function lacksGroup({ data, groupBy, other }: Report): boolean {
  const values = data.flatMap(({ group }) => groupBy.map((name) => group[name] ?? ''));
  const isUsed = data.some((entry) => entry.count > 0);
  return groupBy.length > 0 && isUsed && !other && values.every((value) => value === '');
}
