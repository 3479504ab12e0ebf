import { expect, it } from 'vitest';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { frameOf, type LoggedEvent } from '../../tests/support/load-frames.ts';
import { addFrame, type Block, emptyBlock, linesWithout, splitLines } from './block.ts';
import { piecesOf } from './block-pieces.ts';

const LOG_ID = Buffer.alloc(16, 3);
const TODAY = new Date(TEST_NOW_MS);

function blockOf(events: LoggedEvent[]): Block {
  const block = emptyBlock(0);
  const bytes = Buffer.concat(frameOf(LOG_ID, events, TEST_NOW_MS));
  addFrame(block, { position: 0, next: bytes.length, bytes }, LOG_ID);
  return block;
}

/** One a month, going back from today. */
function monthly(months: number): LoggedEvent[] {
  return Array.from({ length: months }, (_, ago) => ({
    id: `event ${ago}`,
    occurredAtMs: Date.UTC(TODAY.getUTCFullYear(), TODAY.getUTCMonth() - ago, 1 + (ago % 28)),
  }));
}

function monthsIn(lines: Buffer): Set<string> {
  const months = splitLines(lines).map((line) => {
    const at = /,(-?\d+),\d+\]\n$/.exec(line.toString())?.[1];
    return new Date(Number(at)).toISOString().slice(0, 7);
  });
  return new Set(months);
}

it('a block of no more than 96 months is one piece under the token of its range, as ever', () => {
  const block = blockOf(monthly(96));
  expect(piecesOf(block, [])).toEqual([{ name: '', lines: linesWithout(block, []) }]);
  expect(piecesOf(block, [0, 95])).toEqual([{ name: '', lines: linesWithout(block, [0, 95]) }]);
});

// Red when a wide block is one insert: ClickHouse takes 100 months at once, and seconds for so many parts.
it('one of more months is several pieces, none of more than 96, that hold each line once', () => {
  const block = blockOf(monthly(1_212));
  const pieces = piecesOf(block, []);
  for (const { lines } of pieces) expect(monthsIn(lines).size).toBeLessThanOrEqual(96);
  expect(new Set(pieces.map(({ name }) => name)).size).toBe(pieces.length);
  const all = pieces.flatMap(({ lines }) => splitLines(lines).map(String));
  expect(all.sort()).toEqual(splitLines(linesWithout(block, [])).map(String).sort());
});

// Red when pieces are cut by what is there: a token would name other events once a line is left out.
it('what is left out changes no piece but its own', () => {
  const block = blockOf(monthly(300));
  const [whole, less] = [piecesOf(block, []), piecesOf(block, [0, 1, 2, 150, 299])];
  const names = new Map(whole.map(({ name, lines }) => [name, new Set(splitLines(lines).map(String))]));
  for (const { name, lines } of less) {
    for (const line of splitLines(lines)) expect(names.get(name)?.has(String(line))).toBe(true);
  }
});

it('lines that cannot be read are together, apart from the others', () => {
  const block = blockOf([...monthly(200), { id: 'bad', line: '["half' }]);
  const [bad] = piecesOf(block, []).filter(({ name }) => name === '-unreadable');
  expect(bad?.lines.toString()).toBe('["half');
});
