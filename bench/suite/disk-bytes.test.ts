import { expect, it } from 'vitest';
import { judgedDisk } from './disk-bytes.ts';

it('an event takes what all tables take for it', () => {
  const bytesPerEvent = { events: 66.5, usage_hourly: 2.5 };
  expect(judgedDisk('mid', { events: 2_560_000, bytesPerEvent })).toEqual({
    id: 'G14/mid',
    value: 69,
    isSmaller: false,
    note: '2560000 events: events 66.5, usage_hourly 2.5',
  });
  expect(judgedDisk('mid', { events: 320_000, bytesPerEvent })).toMatchObject({ isSmaller: true });
});
