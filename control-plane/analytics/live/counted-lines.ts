import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { createWakeup } from '../../../infra/platform/wakeup.ts';
import type { EventLogReader, LogFrame } from '../../../infra/ports/event-log.ts';
import { decodeFrame, NUMBER_BYTES } from '../../../schemas/stored/frame.ts';
import { rowLines } from '../../../schemas/stored/row-lines.ts';
import { type LoadedRange, readLoadedEnds, readLoadedRanges } from '../../store/loaded-ranges.ts';

/** Reads the lines of events as they are counted: those that the load has inserted, and not their repeats. */
export interface CountedLines {
  /** Resolves once everything that is counted from now on will be read. Throws Transient. */
  start(): Promise<void>;
  stop(): void;
  /** More may be counted. */
  wake(): void;
}

export interface CountedLinesDeps {
  pool: Pool;
  logReader: EventLogReader;
  /** Hex. */
  logId: string;
  log: Logger;
  /** An event's line (schemas/stored/event-row.ts), without its end. It is not kept. */
  onLine(line: Buffer): void;
  /** An unknown number of events was passed over. */
  onGap(): void;
}

/** Without a notification, which may be lost. */
const POLL_MS = 1_000;
const READ_BYTES_MAX = 4 * 1024 * 1024;
/** Of each partition at once. */
const RANGES_MAX = 64;
/** More than these behind, and it goes on with what is counted now: a second of the largest load. */
const BEHIND_EVENTS_MAX = 200_000;

/** Only while it is started; the load knows nothing of it. */
export function createCountedLines(deps: CountedLinesDeps): CountedLines {
  const { log } = deps;
  const wakeup = createWakeup();
  /** Of the present run. By partition: everything before it was read. */
  let run: Map<number, number> | undefined;
  /** Starts and stops: a start that takes longer than the next one must not go back to its own positions. */
  let changes = 0;

  async function ends(): Promise<Map<number, number>> {
    const found = await readLoadedEnds(deps.pool, deps.logId, deps.logReader.partitions);
    return new Map(found.map(({ partition, hi }) => [partition, hi]));
  }

  async function follow(positions: Map<number, number>): Promise<void> {
    while (run === positions) {
      try {
        await catchUp(deps, positions, () => run === positions);
      } catch (err) {
        // The log may have been trimmed there, or a store is unavailable.
        log.debug({ err }, 'cannot read what was counted for a live stream');
        deps.onGap();
        const now = await ends().catch(() => positions);
        for (const [partition, hi] of now) positions.set(partition, hi);
      }
      await wakeup.wait(POLL_MS);
    }
  }

  return {
    async start() {
      changes += 1;
      const own = changes;
      const positions = await ends();
      if (own !== changes) return;
      run = positions;
      void follow(positions);
    },
    stop() {
      changes += 1;
      run = undefined;
      wakeup.wake();
    },
    wake: () => (run ? wakeup.wake() : undefined),
  };
}

async function catchUp(
  deps: CountedLinesDeps,
  positions: Map<number, number>,
  isWanted: () => boolean,
): Promise<void> {
  const after = [...positions].map(([partition, hi]) => ({ partition, hi }));
  const ranges = await readLoadedRanges(deps.pool, deps.logId, { after, limit: RANGES_MAX });
  const isFarBehind = ranges.reduce((sum, { eventCount }) => sum + eventCount, 0) > BEHIND_EVENTS_MAX;
  if (isFarBehind) deps.onGap();
  for (const range of ranges) {
    if (!isWanted()) return;
    if (!isFarBehind) await readRange(deps, range);
    positions.set(range.partition, range.hi);
  }
}

async function readRange({ logReader, onLine }: CountedLinesDeps, range: LoadedRange): Promise<void> {
  const dropped = new Set(range.dropped);
  let number = 0;
  let position = range.lo;
  while (position < range.hi) {
    const frames = await logReader.read(range.partition, position, READ_BYTES_MAX);
    if (frames.length === 0) return;
    for (const frame of frames.filter((one) => one.position < range.hi)) {
      for (const { line, isOfChange } of linesOf(frame)) {
        // Voids are no usage, and what a change adds does not count yet.
        // mutant: changes-in-the-live-stream
        if (!isOfChange && !dropped.has(number)) onLine(line);
        number += 1;
      }
      position = frame.next;
    }
  }
}

const LINE_FEED = 10;

interface FrameLine {
  line: Buffer;
  /** Of a correction, not of ordinary usage. */
  isOfChange: boolean;
}

function* linesOf({ bytes, foreign }: LogFrame): Generator<FrameLine> {
  if (foreign !== undefined || bytes.length === 0) return;
  const frame = decodeFrame(bytes);
  const lines = rowLines(frame);
  for (let [at, event] = [0, 0]; at < lines.length; event++) {
    const end = lines.indexOf(LINE_FEED, at);
    if (end < 0) return;
    const number = frame.numbers?.readUInt16LE(event * NUMBER_BYTES);
    const isOfChange = number !== undefined && frame.touched[number]?.change !== undefined;
    yield { line: lines.subarray(at, end), isOfChange };
    at = end + 1;
  }
}
