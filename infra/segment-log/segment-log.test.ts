import { pino } from 'pino';
import { eventLogConformance } from '../conformance/event-log.ts';
import { testFolder } from '../test-folder.ts';
import { openSegmentLogReader } from './reader.ts';
import { openSegmentLogWriter } from './writer.ts';

const log = pino({ level: 'silent' });
const identityCheck = Buffer.alloc(16, 1);

eventLogConformance('the segment log', async () => {
  const directory = testFolder();
  return {
    openWriter: () => openSegmentLogWriter({ directory, identityCheck, log }),
    openReader: () => openSegmentLogReader({ directory }),
  };
});

eventLogConformance('the segment log with many segments', async () => {
  const directory = testFolder();
  return {
    openWriter: () => openSegmentLogWriter({ directory, identityCheck, segmentBytesMax: 4_000, log }),
    openReader: () => openSegmentLogReader({ directory }),
  };
});
