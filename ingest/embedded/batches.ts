import type { CommitPart } from '../../infra/ports/engine.ts';
import { createFrameMemory, type FrameMemory } from './frame-memory.ts';

/** Whole requests that a frame takes, and its memory. */
export interface Batch<Request> {
  frame: FrameMemory;
  requests: Request[];
}

/** Requests on their way into frames, in the order in which they came. One frame is written at a time. */
export interface Batches<Request> {
  /** The memory of its part is read in this call only. */
  add(request: Request): void;
  /** The next frame; undefined without a request. The one behind it begins with what waited for that. */
  take(): Batch<Request> | undefined;
  /** All requests that were not taken. */
  takeOthers(): Request[];
  /** A batch that is no longer read: its memory is used again. */
  giveBack(batch: Batch<Request>): void;
}

/**
 * There is memory for two frames: for the one that is written and for the next one. Requests that do not fit
 * into that wait with a copy of their events.
 */
export function createBatches<Request extends { part: CommitPart }>(): Batches<Request> {
  let next = emptyBatch<Request>();
  let spare = emptyBatch<Request>();
  const waiting: Request[] = [];

  function fits(request: Request): boolean {
    const isTaken = next.frame.add(request.part);
    if (isTaken) next.requests.push(request);
    return isTaken;
  }

  return {
    add(request) {
      if (waiting.length === 0 && fits(request)) return;
      // mutant: lent-memory-kept
      waiting.push({ ...request, part: copied(request.part) });
    },
    take() {
      if (next.requests.length === 0) return undefined;
      const taken = next;
      next = spare;
      let added = 0;
      while (added < waiting.length && fits(waiting[added] as Request)) added++;
      waiting.splice(0, added);
      return taken;
    },
    takeOthers() {
      next.frame.clear();
      return [...next.requests.splice(0), ...waiting.splice(0)];
    },
    giveBack({ frame }) {
      frame.clear();
      spare = { frame, requests: [] };
    },
  };
}

function emptyBatch<Request>(): Batch<Request> {
  return { frame: createFrameMemory(), requests: [] };
}

function copied(part: CommitPart): CommitPart {
  const { records, lines, numbers } = part;
  return {
    ...part,
    records: Uint8Array.from(records),
    lines: Buffer.from(lines),
    numbers: Uint16Array.from(numbers),
  };
}
