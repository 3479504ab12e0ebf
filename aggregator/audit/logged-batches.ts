import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { changeText } from '../../schemas/stored/touched-rows.ts';
import type { LoggedEvent } from './logged-events.ts';

/** Rows that one insert takes: of ordinary usage, or of one change. */
export interface LoggedBatch {
  lines: Buffer;
  events: number;
  change?: ChangeRows;
}

/** Collects events of the log for inserts: those of each change apart. */
export interface LoggedBatches {
  add(event: LoggedEvent): void;
  isFull(): boolean;
  /** All that was added since, in any number of batches. */
  take(): LoggedBatch[];
}

export function createLoggedBatches(linesMax: number): LoggedBatches {
  const open = new Map<string, { lines: Buffer[]; change: ChangeRows | undefined }>();
  let events = 0;
  return {
    add({ line, change }) {
      const name = changeText(change);
      const batch = open.get(name) ?? { lines: [], change };
      batch.lines.push(line);
      open.set(name, batch);
      events += 1;
    },
    isFull: () => events >= linesMax,
    take() {
      const taken = [...open.values()].map(({ lines, change }) => ({
        lines: Buffer.concat(lines),
        events: lines.length,
        ...(change ? { change } : {}),
      }));
      open.clear();
      events = 0;
      return taken;
    },
  };
}
