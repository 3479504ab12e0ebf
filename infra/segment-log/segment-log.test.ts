import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { type EventLogHarness, eventLogConformance } from '../ports/conformance/event-log.ts';
import { logRetentionConformance } from '../ports/conformance/event-log-retention.ts';
import { openSegmentLogReader } from './reader.ts';
import { openSegmentLogWriter, type SegmentLogWriter } from './writer.ts';

const identityCheck = Buffer.alloc(16, 1);

async function inSegmentsOf(segmentBytesMax?: number): Promise<EventLogHarness<SegmentLogWriter>> {
  const directory = testFolder();
  const options = { directory, identityCheck, log: SILENT, ...(segmentBytesMax ? { segmentBytesMax } : {}) };
  return {
    openWriter: () => openSegmentLogWriter(options),
    openReader: () => openSegmentLogReader({ directory }),
  };
}

for (const conformance of [eventLogConformance, logRetentionConformance]) {
  conformance('the segment log', () => inSegmentsOf());
  conformance('the segment log with many segments', () => inSegmentsOf(4_000));
}
