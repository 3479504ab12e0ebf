import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import {
  damagedMiddle,
  foreignLog,
  header,
  logJson,
  shortSegment,
  truncatedKeys,
  without,
} from './harmed-data.ts';
import { expectDataPlaneRejects, type Harm } from './rejected-data-under-test.ts';
import { type Installation, makeInstallation } from './small-installation.ts';

/* What `rejected-data.sys.test.ts` leaves out of what the data plane rejects at its start: a process each. */
const HARMS: Harm[] = [
  [
    'a segment damaged in the middle, its keys lost',
    // Found when keys are rebuilt from the log.
    (paths) => damagedMiddle(without(paths, paths.keys)),
    /is damaged at byte \d+ .*checksum fails.*\. Restore it/,
  ],
  ['a log that lost acknowledged frames', shortSegment, /durable up to \d+\. Restore it from a backup/],
  ['a log of a newer release', (paths) => logJson(paths, { version: 99 }), /written by a newer Metergate/],
  ['a log of another identity key', foreignLog, /written under another identity key/],
  [
    'segments without their log.json',
    (paths) => without(paths, join(paths.log, 'log.json')).log,
    /restore DATA_DIR/,
  ],
  [
    'a folder that lost its log and its keys',
    (paths) => without(paths, paths.log, paths.keys).log,
    /mount or restore DATA_DIR/,
  ],
  ['a truncated file of keys', truncatedKeys, /has \d+ bytes where .* promises \d+\. Restore it, or move/],
  ['a file of keys of another identity key', (paths) => header(paths, 16), /under another identity key/],
];

let installation: Installation;

beforeAll(async () => {
  installation = await makeInstallation();
});

afterAll(() => installation?.remove());

it.each(HARMS)('the data plane rejects %s', async (...harm) => {
  await expectDataPlaneRejects(installation, harm);
});
