import { type PollLimits, poll } from '../../infra/platform/poll.ts';

/** Rejects, and says what was waited for, when it takes longer. What was begun goes on unheard. */
export async function inTime<T>(begun: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate(timeoutMs, what)), timeoutMs);
  });
  return await Promise.race([begun, late]).finally(() => clearTimeout(timer));
}

/** Looks until there is something to see, and gives that; rejects when the time is over. */
export async function seenInTime<T>(
  look: () => T | undefined | Promise<T | undefined>,
  { timeoutMs, everyMs = 10 }: Pick<PollLimits, 'timeoutMs'> & Partial<PollLimits>,
  what: string,
): Promise<T> {
  const seen = await poll(look, { timeoutMs, everyMs });
  if (seen === undefined) throw tooLate(timeoutMs, what);
  return seen;
}

function tooLate(timeoutMs: number, what: string): Error {
  return new Error(`waited ${timeoutMs} ms for ${what}`);
}
