import { BATCH_EVENTS_MAX } from './usage-event.ts';

/** Timers take no more. */
const DURATION_MS_MAX = 2 ** 31 - 1;

/** Of `createMeter`. */
interface Limits {
  batchEventsMax?: number;
  requestsMax?: number;
  timeoutMs?: number;
  lingerMs?: number;
  memory?: { eventsMax?: number; bytesMax?: number };
}

/** Throws a RangeError for a number that an option cannot be. */
export function checkLimits({ memory, ...options }: Limits): void {
  inRange('batchEventsMax', options.batchEventsMax, { min: 1, max: BATCH_EVENTS_MAX });
  inRange('requestsMax', options.requestsMax, { min: 1, max: 100 });
  inRange('timeoutMs', options.timeoutMs, { min: 1, max: DURATION_MS_MAX });
  inRange('lingerMs', options.lingerMs, { min: 0, max: DURATION_MS_MAX });
  inRange('memory.eventsMax', memory?.eventsMax, { min: 1, max: Number.MAX_SAFE_INTEGER });
  inRange('memory.bytesMax', memory?.bytesMax, { min: 1, max: Number.MAX_SAFE_INTEGER });
}

function inRange(name: string, value: number | undefined, { min, max }: { min: number; max: number }): void {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return;
  throw new RangeError(`\`${name}\` must be a whole number from ${min} to ${max}.`);
}
