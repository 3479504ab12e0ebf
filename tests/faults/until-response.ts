import type { ApiResponse } from '../support/api.ts';
import { seenInTime } from '../support/in-time.ts';

const PATIENCE = { timeoutMs: 60_000, everyMs: 25 };

export interface Responded {
  response: ApiResponse;
  /** How often it had to be sent again. */
  repeats: number;
}

/** Sends a request again while no response comes, or one that leaves its outcome open. */
export async function untilResponse(
  send: () => Promise<ApiResponse>,
  what: string,
  isOpen: (response: ApiResponse) => boolean,
): Promise<Responded> {
  let tries = 0;
  const attempt = async () => {
    tries += 1;
    const response = await send().catch(() => undefined);
    return response && !isOpen(response) ? response : undefined;
  };
  const response = await seenInTime(attempt, PATIENCE, `the response to ${what}`);
  return { response, repeats: tries - 1 };
}
