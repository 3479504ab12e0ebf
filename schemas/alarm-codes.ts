/** Alarm of a partition that is still loading. Any other alarm of a partition pauses it. */
export const EVENT_TWICE = 'event_twice';
/** Raised and cleared by the watcher of a Kafka log, not by its loader. */
export const NEAR_RETENTION = 'log_near_retention';
