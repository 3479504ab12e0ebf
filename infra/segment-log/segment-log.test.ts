import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { alignedMemory } from '../platform/aligned-memory.ts';
import { type EventLogHarness, eventLogConformance } from '../ports/conformance/event-log.ts';
import { logRetentionConformance } from '../ports/conformance/event-log-retention.ts';
import type { EventLogReader } from '../ports/event-log.ts';
import { openSegmentLogReader } from './reader.ts';
import { BLOCK_BYTES } from './segment-file.ts';
import { FORMS, type Form, openFileIn } from './write-form-under-test.ts';
import { openSegmentLogWriter, type SegmentLogWriter } from './writer.ts';

const identityCheck = Buffer.alloc(16, 1);

async function inSegmentsOf(form: Form, segmentBytesMax: number): Promise<EventLogHarness<SegmentLogWriter>> {
  const directory = testFolder();
  const options = { directory, identityCheck, log: SILENT, segmentBytesMax, openFile: openFileIn(form) };
  return {
    blockBytes: BLOCK_BYTES,
    openWriter: () => openSegmentLogWriter(options),
    openReader: async () => readIn(form, await openSegmentLogReader({ directory })),
  };
}

/** Past the page cache it is read into memory that allows it. */
function readIn(form: Form, reader: EventLogReader): EventLogReader {
  if (form === 'through the page cache') return reader;
  const aligned = { take: (bytes: number) => alignedMemory(bytes).subarray(0, bytes) };
  return {
    ...reader,
    read: (partition, from, bytesMax, memory = aligned) => reader.read(partition, from, bytesMax, memory),
  };
}

for (const form of FORMS) {
  for (const conformance of [eventLogConformance, logRetentionConformance]) {
    conformance(`the segment log ${form}`, () => inSegmentsOf(form, 64 * 1024 * 1024));
    conformance(`the segment log ${form}, with many segments`, () => inSegmentsOf(form, 10_000));
  }
}
