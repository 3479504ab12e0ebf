import type { Logger } from 'pino';
import { withoutSecrets } from './secret-shapes.ts';
import { readTraceparent } from './trace-context.ts';

/** Logs requests that were rejected, so that a caller's `requestId` is found there. */
export interface RejectionLog {
  /** `facts` is called only when the line is written. */
  rejected(status: number, facts: () => RejectedRequest): void;
}

export interface RejectedRequest {
  requestId: string;
  method: string;
  /** Without the query. */
  path: string;
  code: string;
  /** The header of the request, as it came: what of it is valid is logged. */
  traceparent?: string | undefined;
}

/** Of each status; a flood of one hides none of another. */
const LINES_PER_SECOND_MAX = 5;

/** Beyond its rate lines are left out, and the next one that is written states how many. */
export function createRejectionLog(log: Logger, nowMs: () => number = () => performance.now()): RejectionLog {
  const statuses = new Map<number, { sinceMs: number; lines: number; leftOut: number }>();

  return {
    rejected(status, facts) {
      const now = nowMs();
      const seen = statuses.get(status) ?? { sinceMs: now, lines: 0, leftOut: 0 };
      statuses.set(status, seen);
      if (now - seen.sinceMs >= 1_000) {
        seen.sinceMs = now;
        seen.lines = 0;
      }
      if (seen.lines >= LINES_PER_SECOND_MAX) {
        seen.leftOut += 1;
        return;
      }
      const { requestId, method, path, code, traceparent } = facts();
      const leftOut = seen.leftOut === 0 ? {} : { leftOut: seen.leftOut };
      const trace = readTraceparent(traceparent);
      const traceId = trace ? { traceId: trace.traceId } : {};
      log.info(
        { requestId, ...traceId, status, code, method: shown(method), path: shown(path), ...leftOut },
        'a request was rejected',
      );
      seen.lines += 1;
      seen.leftOut = 0;
    },
  };
}

const SHOWN_CHARS_MAX = 200;
/** Three for a character that is encoded, and encoded again. */
const READ_CHARS_MAX = 5 * SHOWN_CHARS_MAX;

/** A caller may have put a key where an id belongs, or anywhere. */
function shown(text: string): string {
  return withoutSecrets(text.slice(0, READ_CHARS_MAX)).slice(0, SHOWN_CHARS_MAX);
}
