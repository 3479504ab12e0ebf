import type { EventLines } from '../../infra/ports/warehouse.ts';
import { type Block, linesWithout, splitLines } from './block.ts';

/** What is inserted as one block of ClickHouse's, under a token of its own. */
export interface Piece {
  /** What its token has behind that of the range; empty where the range is one piece. */
  name: string;
  lines: EventLines;
}

/**
 * ClickHouse makes one part per month and syncs each. With 1,212 months, the most that can occur, an insert
 * took 6 s on a fast disk and the repair of the block 38 s; both have to end within a lease. By default
 * ClickHouse accepts 100 partitions in a block; an operator's server may forbid a higher setting.
 */
const MONTHS_MAX = 96;

/**
 * The block's events without the given ones, in one piece, unless its events are more than 96 months apart;
 * then each eight years are a piece. The same frames always put the same events under the same name, whatever
 * is left out: the piece of an event depends on the event's own month, and whether there are pieces depends
 * on the headers of the frames.
 */
export function piecesOf(block: Block, dropped: number[]): Piece[] {
  const isOne = !isWide(block);
  if (isOne && dropped.length === 0 && block.frames.every(({ numbers }) => numbers)) {
    return [{ name: '', lines: { frames: block.frames } }];
  }
  const lines = linesWithout(block, dropped);
  if (isOne) return [{ name: '', lines }];
  const pieces = new Map<string, Buffer[]>();
  for (const line of splitLines(lines)) {
    const name = nameOf(line);
    const piece = pieces.get(name) ?? [];
    piece.push(line);
    pieces.set(name, piece);
  }
  return Array.from(pieces, ([name, own]) => ({ name, lines: Buffer.concat(own) }));
}

function isWide({ frames }: Block): boolean {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { touched } of frames) {
    for (const { occurredFromMs, occurredToMs } of touched) {
      first = Math.min(first, occurredFromMs);
      last = Math.max(last, occurredToMs);
    }
  }
  return last > first && monthOf(last) - monthOf(first) >= MONTHS_MAX;
}

/** The last two columns of schemas/stored/event-row.ts are occurred_at and created_at. */
const TIMES = /,(-?\d+),-?\d+\]\n?$/;
const TAIL_BYTES = 64;

/** A line that cannot be read is rejected, wherever it is in the block. */
function nameOf(line: Buffer): string {
  const [, occurredAt] = TIMES.exec(line.toString('latin1', Math.max(0, line.length - TAIL_BYTES))) ?? [];
  if (occurredAt === undefined) return '-unreadable';
  return `-months-${Math.floor(monthOf(Number(occurredAt)) / MONTHS_MAX)}`;
}

/** Since January of the year 0. */
function monthOf(ms: number): number {
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
