import { describe, expect, it } from 'vitest';
import { asRows } from '../../infra/clickhouse/columns/event-columns.ts';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import { type EarlierVersion, earlierFrameOf } from '../../tests/support/earlier-frames.ts';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { frameOf, type LoggedEvent } from '../../tests/support/load-frames.ts';
import { addFrame, type Block, emptyBlock, linesWithout, splitLines } from './block.ts';
import { piecesOf } from './block-pieces.ts';

const LOG_ID = Buffer.alloc(16, 3);
const TODAY = new Date(TEST_NOW_MS);

function blockOf(events: LoggedEvent[]): Block {
  return blockOfFrames(Buffer.concat(frameOf(LOG_ID, events, TEST_NOW_MS)));
}

function blockOfFrames(...frames: Buffer[]): Block {
  const block = emptyBlock(0);
  for (const bytes of frames) {
    addFrame(block, { position: block.hi, next: block.hi + bytes.length, bytes }, LOG_ID);
  }
  return block;
}

/** The rows of each piece, by its name. */
function rowsOf(block: Block, dropped: number[]): Map<string, string[]> {
  return new Map(
    piecesOf(block, dropped).map(({ name, lines }) => [name, splitLines(asRows(lines)).map(String)]),
  );
}

/** One a month, going back from today. */
function monthly(months: number): LoggedEvent[] {
  return Array.from({ length: months }, (_, ago) => ({
    id: `event ${ago}`,
    occurredAtMs: Date.UTC(TODAY.getUTCFullYear(), TODAY.getUTCMonth() - ago, 1 + (ago % 28)),
  }));
}

function monthsIn(rows: string[]): Set<string> {
  const months = rows.map((row) => {
    const at = /,(-?\d+),\d+\]\n$/.exec(row)?.[1];
    return new Date(Number(at)).toISOString().slice(0, 7);
  });
  return new Set(months);
}

it('a block of no more than 96 months is one piece under the token of its range, as ever', () => {
  const block = blockOf(monthly(96));
  expect(piecesOf(block, [])).toEqual([{ name: '', lines: { frames: block.frames } }]);
  expect(piecesOf(block, [0, 95])).toEqual([{ name: '', lines: linesWithout(block, [0, 95]) }]);
});

// Red when a wide block is one insert: ClickHouse takes 100 months at once, and seconds for so many parts.
it('one of more months is several pieces, none of more than 96, that hold each line once', () => {
  const block = blockOf(monthly(1_212));
  const pieces = rowsOf(block, []);
  for (const rows of pieces.values()) expect(monthsIn(rows).size).toBeLessThanOrEqual(96);
  expect(pieces.size).toBe(piecesOf(block, []).length);
  const all = [...pieces.values()].flat();
  expect(all.sort()).toEqual(splitLines(linesWithout(block, [])).map(String).sort());
});

// Red when pieces are cut by what is there: a token would name other events once a line is left out.
it('what is left out changes no piece but its own', () => {
  const block = blockOf(monthly(300));
  const [whole, less] = [rowsOf(block, []), rowsOf(block, [0, 1, 2, 150, 299])];
  for (const [name, rows] of less) expect(whole.get(name)).toEqual(expect.arrayContaining(rows));
});

describe('a block with records of changes', () => {
  const [added, voided] = [
    { number: 7, voids: false },
    { number: 7, voids: true },
  ];
  const changes = [undefined, added, voided, { ...voided, of: 3 }, { number: 8, voids: true }];
  const names = ['', '-change-7', '-change-7-voids-0', '-change-7-voids-3', '-change-8-voids-0'];
  const mixed = (months: number): LoggedEvent[] =>
    monthly(months).map((event, at) => {
      const change = changes[at % changes.length];
      return change ? { ...event, change } : event;
    });

  // Red when two of them share a token: ClickHouse drops the second one.
  it('has a piece for the events and for the voids of each, and one of ordinary usage', () => {
    const block = blockOf(mixed(90));
    const pieces = piecesOf(block, []);
    expect(pieces.map(({ name, change }) => [name, change])).toEqual(
      names.map((name, at) => [name, changes[at]]),
    );
    const rows = rowsOf(block, []);
    const plain = splitLines(linesWithout(block, [])).map(String);
    names.forEach((name, at) => {
      expect(rows.get(name)).toEqual(plain.filter((_, line) => line % names.length === at));
    });
  });

  it('is cut in the same way whatever is left out, and by months where it is wide', () => {
    for (const [months, dropped] of [
      [90, [1, 2, 6, 89]],
      [300, [0, 1, 2, 150, 299]],
    ] as const) {
      const block = blockOf(mixed(months));
      const [whole, less] = [rowsOf(block, []), rowsOf(block, [...dropped])];
      for (const [name, rows] of less) expect(whole.get(name)).toEqual(expect.arrayContaining(rows));
      expect([...less.values()].flat()).toHaveLength(months - dropped.length);
      for (const rows of whole.values()) expect(monthsIn(rows).size).toBeLessThanOrEqual(96);
    }
  });
});

it('lines of earlier releases that cannot be read are together, apart from the others', () => {
  const events = [...monthly(200), { id: 'bad', line: '["half' }];
  const rows = rowsOf(blockOfFrames(earlierFrameOf(2, LOG_ID, events)), []);
  expect(rows.get('-unreadable')).toEqual(['["half']);
});

// Red when a range that an earlier release froze has other bytes under its token than that sent.
it('a block with frames of earlier releases has the rows that those wrote, without those left out', () => {
  const events = monthly(9);
  const frames = [1, 2].map((version) => earlierFrameOf(version as EarlierVersion, LOG_ID, events));
  const earlier = decodeFrame(frames[0] ?? Buffer.alloc(0)).lines;
  const block = blockOfFrames(...frames, Buffer.concat(frameOf(LOG_ID, events, TEST_NOW_MS)));
  const all = splitLines(earlier).map(String);
  expect(rowsOf(block, []).get('')).toEqual([...all, ...all, ...all]);
  expect(rowsOf(block, [0, 10, 20]).get('')).toEqual(
    [all.slice(1), all.slice(0, 1), all.slice(2), all.slice(0, 2), all.slice(3)].flat(),
  );
});
