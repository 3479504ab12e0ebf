import type { Static } from 'typebox';
import { parseExact } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { UsageCorrection } from '../../schemas/resources/usage-corrections.ts';
import type { UsageEvent } from '../../schemas/resources/usage-events.ts';
import type { CorrectionRow, EventCorrectionRow } from '../store/usage-corrections.ts';

const STATUSES = { open: 'running', closing: 'running', visible: 'completed', reverted: 'reverted' } as const;

export function shownCorrection(row: CorrectionRow): UsageCorrection {
  const { id, kind, state, voided, createdBy, createdAt, visibleAt, request } = row;
  return {
    id,
    kind,
    status: STATUSES[state],
    voided,
    ...(row.kind === 'selection' ? { select: row.request.select } : ofOneEvent(row)),
    ...(request.reason === undefined ? {} : { reason: request.reason }),
    createdBy,
    createdAt: timestampText(createdAt.getTime()),
    ...(visibleAt ? { completedAt: timestampText(visibleAt.getTime()) } : {}),
  };
}

function ofOneEvent({ request, addedEvent }: EventCorrectionRow) {
  const newEventId = addedEvent === null ? undefined : idOf(addedEvent);
  return { eventId: request.eventId, ...(newEventId === undefined ? {} : { newEventId }) };
}

/** Of the JSON of an event. */
export function idOf(event: string): string {
  return (parseExact(event) as { id: string }).id;
}

/** The event in the place of the voided one, as it is shown. */
export function shownAdded(event: string, supersedes: string) {
  return { ...(parseExact(event) as Static<typeof UsageEvent>), supersedes };
}
