import type { Pool } from 'pg';
import type { StoredEvent } from '../store/read-usage-events.ts';
import { type EventLinks, findEventLinks } from '../store/usage-corrections.ts';

export type { EventLinks };

export const NO_LINKS: EventLinks = { supersededBy: new Map(), supersedes: new Map() };

/** Which of these events took the place of others. Events that were never corrected cost no statement. */
export async function readEventLinks(
  pool: Pool,
  environment: string,
  events: readonly StoredEvent[],
): Promise<EventLinks> {
  const voided = events.filter(({ isVoided }) => isVoided).map(({ id }) => id);
  const changes = [...new Set(events.map(({ change }) => change))].filter((change) => change > 0);
  if (voided.length + changes.length === 0) return NO_LINKS;
  return findEventLinks(pool, environment, { voided, changes });
}
