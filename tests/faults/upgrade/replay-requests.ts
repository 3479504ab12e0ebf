import type { PlannedRequest } from '../../support/generator.ts';
import type { KeptEvent } from '../../support/ledger.ts';
import { type EventScope, itemOf } from '../../support/planned-event.ts';

const BATCH_ITEMS = 500;

/** Everything that was acknowledged, sent once more: each has to return its first response. */
export function* replayRequests(kept: Iterable<KeptEvent>, scope: EventScope): Generator<PlannedRequest> {
  const events = [...kept].map(({ event }) => event);
  for (let at = 0; at < events.length; at += BATCH_ITEMS) {
    const items = events.slice(at, at + BATCH_ITEMS).map((event) => itemOf(event, scope));
    const body = `{"events":[${items.map(({ json }) => json).join(',')}]}`;
    yield { kind: 'batch', gzip: false, includeEvents: true, items, body };
  }
}
