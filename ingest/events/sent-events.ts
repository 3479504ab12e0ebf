import type { Rejection } from '../../schemas/error-codes.ts';
import type { CloudEvent } from './cloud-event.ts';
import type { ListenersByType } from './listeners.ts';

/** The events of a request. */
export interface SentEvents {
  types: ReadonlySet<string>;
  /** Sent as an array. */
  isBatch: boolean;
  eventsFor(listeners: ListenersByType): EventsToCount;
}

export interface EventsToCount {
  /** In order; one that is not valid is its rejection. */
  events: ReadonlyArray<CloudEvent | Rejection>;
  /** Each is a valid event. */
  isValid: boolean;
  /** Further ones that no meter listens to. */
  others: number;
}
