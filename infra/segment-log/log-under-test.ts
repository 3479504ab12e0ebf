import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { testFrame } from '../ports/conformance/event-log.ts';
import { openSegmentLogReader } from './reader.ts';
import { FORMS, type Form, openFileIn } from './write-form-under-test.ts';
import { openSegmentLogWriter, type SegmentLogOptions, type SegmentLogWriter } from './writer.ts';

/** A log in a folder of its own, to be damaged, reopened and read by a test. */
export interface TestLog {
  directory: string;
  open(options?: Partial<SegmentLogOptions>): Promise<SegmentLogWriter>;
  /** Appends frames with lines of these lengths through a writer of its own; returns the log's end. */
  fill(...linesBytes: number[]): Promise<number>;
  /** [position, next) of every frame that a reader is given. */
  spans(): Promise<Array<[number, number]>>;
  /** Path of the newest segment, or of the nth one. */
  segment(at?: number): string;
}

export function testLog(segmentBytesMax = 1e6, form: Form = FORMS[0]): TestLog {
  const directory = testFolder();
  const identityCheck = Buffer.alloc(16, 1);
  const log = pino({ level: 'silent' });

  async function open(options = {}): Promise<SegmentLogWriter> {
    const openFile = openFileIn(form);
    const opening = { directory, identityCheck, segmentBytesMax, log, openFile, ...options };
    const writer = await openSegmentLogWriter(opening);
    onTestFinished(() => writer.close().catch(() => undefined)); // closed by the test already, as a rule
    return writer;
  }

  return {
    directory,
    open,
    async fill(...linesBytes) {
      const writer = await open();
      let reached = 0;
      for (const bytes of linesBytes) {
        const outcome = await writer.append(testFrame(writer.logId, bytes));
        if (outcome.status === 'durable') reached = outcome.end;
      }
      await writer.close();
      return reached;
    },
    async spans() {
      const reader = await openSegmentLogReader({ directory });
      const frames = await reader.read(0, 0, 1e9);
      await reader.close();
      return frames.map(({ position, next }) => [position, next]);
    },
    segment(at = -1) {
      const names = readdirSync(directory).filter((name) => name.endsWith('.seg'));
      return join(directory, names.sort().at(at) ?? '');
    },
  };
}
