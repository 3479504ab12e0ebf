import { Rejected } from '../../schemas/failures.ts';

/** Runs a read unless too many are under way. */
export type LongReads = <T>(read: () => Promise<T>) => Promise<T>;

/** They run one after the other in the warehouse's long lane: more than these would only time out waiting. */
const UNDER_WAY_MAX = 32;

export function createLongReads(underWayMax = UNDER_WAY_MAX): LongReads {
  let underWay = 0;
  return async (read) => {
    if (underWay >= underWayMax) {
      throw new Rejected('overloaded', 'Too many large reads are under way. Ask again in a moment.');
    }
    underWay += 1;
    try {
      return await read();
    } finally {
      underWay -= 1;
    }
  };
}
