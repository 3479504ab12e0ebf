/**
 * A process for tests: appends frames to a log and prints `position end` after each append, until it is
 * killed or has appended `frameCount`. A frame's committedAtMs is its number, from `firstNumber` on.
 * Arguments: directory, segmentBytesMax, firstNumber, frameCount.
 */
import { writeSync } from 'node:fs';
import type { Logger } from 'pino';
import { encodeFrame } from '../../schemas/stored/frame.ts';
import { openSegmentLogWriter } from './writer.ts';

const [directory = '', ...numbers] = process.argv.slice(2);
const [segmentBytesMax = 0, firstNumber = 0, frameCount = 0] = numbers.map(Number);
const log = { warn: () => undefined } as unknown as Logger;
const writer = await openSegmentLogWriter({
  directory,
  identityCheck: new Uint8Array(16),
  segmentBytesMax,
  log,
});

for (let number = firstNumber; number < firstNumber + frameCount; number++) {
  const outcome = await writer.append(frame(number));
  if (outcome.status === 'durable') writeSync(1, `${outcome.position} ${outcome.end}\n`);
}
await writer.close();

function frame(number: number): Uint8Array[] {
  return encodeFrame({
    logId: writer.logId,
    committedAtMs: number,
    eventCount: 1,
    touched: [],
    records: [new Uint8Array(40)],
    numbers: new Uint16Array(1),
    recheck: [],
    lines: [Buffer.alloc((number * 7_919) % 60_000, 'x')],
  });
}
