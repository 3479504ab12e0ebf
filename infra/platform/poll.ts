import { setTimeout as delay } from 'node:timers/promises';

export interface PollLimits {
  timeoutMs: number;
  everyMs: number;
}

/** Calls until there is a result, or the time is over: then undefined. For states without a notification. */
export async function poll<T>(
  attempt: () => T | undefined | Promise<T | undefined>,
  { timeoutMs, everyMs }: PollLimits,
): Promise<T | undefined> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const response = await attempt();
    if (response !== undefined || performance.now() >= until) return response;
    await delay(everyMs);
  }
}
