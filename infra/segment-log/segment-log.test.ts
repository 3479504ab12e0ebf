import { pino } from 'pino';
import { testFolder } from '../../tests/support/test-folder.ts';
import { type EventLogHarness, eventLogConformance } from '../ports/conformance/event-log.ts';
import { logRetentionConformance } from '../ports/conformance/event-log-retention.ts';
import { openSegmentLogReader } from './reader.ts';
import { openSegmentLogWriter, type SegmentLogWriter } from './writer.ts';

const log = pino({ level: 'silent' });
const identityCheck = Buffer.alloc(16, 1);

async function inSegmentsOf(segmentBytesMax?: number): Promise<EventLogHarness<SegmentLogWriter>> {
  const directory = testFolder();
  const options = { directory, identityCheck, log, ...(segmentBytesMax ? { segmentBytesMax } : {}) };
  return {
    openWriter: () => openSegmentLogWriter(options),
    openReader: () => openSegmentLogReader({ directory }),
  };
}

for (const conformance of [eventLogConformance, logRetentionConformance]) {
  conformance('the segment log', () => inSegmentsOf());
  conformance('the segment log with many segments', () => inSegmentsOf(4_000));
}
