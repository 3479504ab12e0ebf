/** Alarms of a partition that are told beside a load that goes on. Any other is of one that stands still. */
export const EVENT_TWICE = 'event_twice';
/** Raised and cleared by those who watch a log of Kafka, not by those who load it. */
export const NEAR_RETENTION = 'log_near_retention';
