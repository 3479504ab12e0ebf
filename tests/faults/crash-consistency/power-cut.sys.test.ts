import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMS } from '../../../infra/segment-log/write-form-under-test.ts';
import { keptShortForm, SEED } from '../short-form.ts';
import { judgeCut, powerCutsOfAll } from './power-rounds.ts';
import { hastyResponses, hastyTrims } from './recorded-log.ts';
import { type Recording, recordDataPlane, recordSegments } from './recording.ts';

/*
 * Promise 6: durable before the response. The system calls of real processes are recorded; then their folder
 * is rebuilt as a power cut would have left it, at times that a seed gives, and opened. Where strace may not
 * trace, `npm test` says so (tests/support/machine-requirements.ts).
 */
const CUTS = 30;

describe('a data plane that serves many clients at once', () => {
  const recording = recordedBy(recordDataPlane);

  // Mutants: O_DSYNC left out; a new segment's folder not synced; the response before the flush.
  it('acknowledges no event that a power cut can still take', () => {
    expect(recording().log.responses.length).toBeGreaterThan(100);
    expect(hastyResponses(recording().log)).toEqual([]);
  });

  // Mutants: the same; a checkpoint before its records.
  it('finds all that it acknowledged, once, after a power cut at any time', async () => {
    expect(await cutsOf(recording())).toEqual([]);
  });
});

describe.each(FORMS)('a log of many small segments, written %s', (form) => {
  const recording = recordedBy((folder) => recordSegments(folder, form));

  it('announces no frame that a power cut can still take', () => {
    expect(recording().log.responses.length).toBeGreaterThan(100);
    expect(hastyResponses(recording().log)).toEqual([]);
  });

  // Mutant: a manifest of the keys that a kill left behind is trusted while a power cut can still take it.
  it('gives up no frame whose keys a power cut can still take', () => {
    expect(recording().log.frames.filter(({ givenUp }) => givenUp < Infinity).length).toBeGreaterThan(100);
    expect(hastyTrims(recording().log)).toEqual([]);
  });

  it('opens with all that it announced, once, after a power cut at any time', async () => {
    expect(await cutsOf(recording())).toEqual([]);
  });
});

// Mutant: the names of new parts not synced before their range is marked loaded.
it(`the whole of Metergate counts exactly after a power cut (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(powerCutsOfAll, { rounds: 1 });
  expect(counts.rangesMarkedLoaded).toBeGreaterThan(0);
});

function recordedBy(record: (folder: string) => Promise<Recording>): () => Recording {
  let folder: string;
  let recording: Recording;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'metergate-power-'));
    recording = await record(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => recording;
}

async function cutsOf(recording: Recording): Promise<string[]> {
  const found: string[] = [];
  for (let cut = 0; cut < CUTS; cut++) found.push(...(await judgeCut(recording, SEED + cut)));
  return found;
}
