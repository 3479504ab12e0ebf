import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { earlierFrameOf } from '../../tests/support/earlier-frames.ts';
import { eventId, frameOf, type LoggedEvent } from '../../tests/support/load-frames.ts';
import { canonicalDecimal } from '../primitives/decimal.ts';
import { decodeFrame, type Frame } from './frame.ts';
import { eventIdsOf } from './record.ts';
import { readRow, rowLines, valuesOf } from './row-lines.ts';

const LOG_ID = randomBytes(16);
const EVENTS: LoggedEvent[] = ['1', '-0.000000000001', '999999999999999', '1.50'].flatMap((value, at) => [
  { id: `a${at}`, value, properties: { note: ',\\"[' } },
  { id: `b${at}`, value, customerId: 'cus_b', meterKey: 'a"b\\c☃' },
  { id: `c${at}`, value, customerId: 'a "quoted"\\one', environment: 'ws_b:test' },
]);

const frames: Array<[string, Frame]> = [
  ['short lines', decodeFrame(Buffer.concat(frameOf(LOG_ID, EVENTS, 1)))],
  ['whole rows', decodeFrame(earlierFrameOf(2, LOG_ID, EVENTS))],
];

describe.each(frames)('the values of a frame with %s', (_, frame) => {
  it('are those of its rows', () => {
    const rows = rowLines(frame).toString().trimEnd().split('\n');
    const values = valuesOf(frame, { isRead: () => true, isWanted: () => true });
    expect(values).toEqual(rows.map((row, event) => ({ event, ...readRow(Buffer.from(row)) })));
    expect(values.map(({ value }) => value)).toEqual(
      EVENTS.map(({ value }) => canonicalDecimal(value ?? '')),
    );
  });

  it('are read of wanted customers and events alone', () => {
    const wanted = { isRead: (event: number) => event > 2, isWanted: (id: string) => id === 'cus_b' };
    expect(valuesOf(frame, wanted).map(({ event }) => event)).toEqual([4, 7, 10]);
  });
});

// Red when a void has its own id: it would take away an event that is nowhere.
it('rows of a change are as those of usage, and those of voids have the ids of the voided events', () => {
  const changes = [
    { number: 7, voids: false },
    { number: 7, voids: true },
    { number: 7, voids: true, of: 3 },
  ];
  const changed = EVENTS.map((event, at) => ({ ...event, change: changes[at % 3] }) as LoggedEvent);
  const [plain, frame] = [EVENTS, changed].map((events) =>
    decodeFrame(Buffer.concat(frameOf(LOG_ID, events, 1))),
  ) as [Frame, Frame];
  expect(rowLines(frame).toString()).toBe(rowLines(plain).toString());
  const wanted = { isRead: () => true, isWanted: () => true };
  expect(valuesOf(frame, wanted)).toEqual(valuesOf(plain, wanted));
  const own = eventIdsOf(frame.records);
  expect(own.map((id, at) => id === eventId(EVENTS[at]?.id ?? ''))).toEqual(
    EVENTS.map((_, at) => at % 3 === 0),
  );
  expect(new Set(own).size).toBe(EVENTS.length);
});

it('a line that is not to be read only has to have an end', () => {
  const lines = [{ id: 'bad', line: 'garbage\n' }, { id: 'good' }];
  for (const bytes of [Buffer.concat(frameOf(LOG_ID, lines, 1)), earlierFrameOf(2, LOG_ID, lines)]) {
    const frame = decodeFrame(bytes);
    const isWanted = (): boolean => true;
    expect(valuesOf(frame, { isRead: (event) => event > 0, isWanted })).toHaveLength(1);
    const unreadable = expect.objectContaining({ code: 'line_unreadable' });
    expect(() => valuesOf(frame, { isRead: () => true, isWanted })).toThrow(unreadable);
  }
});
