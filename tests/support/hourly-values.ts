import { HOURLY_STATES, type HourlyState } from '../../schemas/stored/usage-hourly.ts';

const STATES: readonly HourlyState[] = Object.values(HOURLY_STATES);

/** Every state of several hours as one value, in the order of the columns. */
export const HOURLY_MERGED = STATES.map(({ merged }) => merged);

/** The same of events. */
export const HOURLY_VALUES = STATES.map(({ ofEvents }) =>
  /State(If)?\(/.test(ofEvents) ? `finalizeAggregation(${ofEvents})` : ofEvents,
);
