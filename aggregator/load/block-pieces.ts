import type { EventLines } from '../../infra/ports/warehouse.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { NUMBER_BYTES } from '../../schemas/stored/frame.ts';
import { type Block, linesWithout, splitLines } from './block.ts';

/** What is inserted as one block of ClickHouse's, under a token of its own. */
export interface Piece {
  /** What its token has behind that of the range; empty where the range is one piece. */
  name: string;
  lines: EventLines;
  /** Left out: ordinary usage. */
  change?: ChangeRows;
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
 *
 * Of each change of usage that the block has records of, its new events are a piece of their own, and its
 * voids another one; then what is left is cut as without them.
 */
export function piecesOf(block: Block, dropped: number[]): Piece[] {
  return hasChanges(block) ? piecesByChange(block, dropped) : ordinaryPieces(block, dropped);
}

function ordinaryPieces(block: Block, dropped: number[]): Piece[] {
  const isOne = !isWide(block);
  if (isOne && dropped.length === 0 && block.frames.every(({ numbers }) => numbers)) {
    return [{ name: '', lines: { frames: block.frames } }];
  }
  const lines = linesWithout(block, dropped);
  if (isOne) return [{ name: '', lines }];
  const pieces = createPieces();
  for (const line of splitLines(lines)) pieces.add(nameOf(line), line);
  return pieces.all();
}

function piecesByChange(block: Block, dropped: number[]): Piece[] {
  const changes = changesOf(block);
  const isOne = !isWide(block);
  const pieces = createPieces();
  let next = 0;
  splitLines(linesWithout(block, [])).forEach((line, number) => {
    if (number === dropped[next]) {
      next += 1;
      return;
    }
    const change = changes[number];
    // mutant: pieces-of-changes-share-a-token
    pieces.add(nameOfChange(change) + (isOne ? '' : nameOf(line)), line, change);
  });
  return pieces.all();
}

function createPieces() {
  const pieces = new Map<string, { own: Buffer[]; change: ChangeRows | undefined }>();
  return {
    add(name: string, line: Buffer, change?: ChangeRows): void {
      const piece = pieces.get(name);
      if (piece) piece.own.push(line);
      else pieces.set(name, { own: [line], change });
    },
    all: (): Piece[] =>
      Array.from(pieces, ([name, { own, change }]) => ({
        name,
        lines: Buffer.concat(own),
        ...(change ? { change } : {}),
      })),
  };
}

function hasChanges({ frames }: Block): boolean {
  return frames.some(({ touched }) => touched.some(({ change }) => change));
}

/** Of each event of the block the change that it is of, by its number. Frames before version 3 have none. */
export function changesOf({ frames }: Pick<Block, 'frames'>): Array<ChangeRows | undefined> {
  return frames.flatMap(({ touched, numbers, eventCount }) =>
    Array.from({ length: eventCount }, (_, event) =>
      numbers ? touched[numbers.readUInt16LE(event * NUMBER_BYTES)]?.change : undefined,
    ),
  );
}

function nameOfChange(change: ChangeRows | undefined): string {
  if (!change) return '';
  const { number, voids, of = 0 } = change;
  return `-change-${number}${voids ? `-voids-${of}` : ''}`;
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
