import { readFileSync } from 'node:fs';
import { setTimeout as pass } from 'node:timers/promises';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { whilePaused } from '../../tests/support/processes.ts';
import { createDriver } from './drive.ts';
import { lengthOfFiles } from './folder-sizes.ts';
import type { Measured } from './goals.ts';
import { rounded } from './paired.ts';
import { type Scenario, toward, waitForAll } from './scenario.ts';

/** Of one shape of requests. */
export interface WrittenFigures {
  events: number;
  receivedBytes: number;
  /** That the data plane gave to the disk, in whole pages, by the count of the kernel. */
  writtenBytes: number;
  /** By which the files of log and keys grew. */
  grownBytes: number;
}

/** Singles at as many connections as a small installation has: each flush is shared by those alone. */
const SHAPES = {
  W: { batch: 500, connections: 8 },
  'W/singles': { batch: 1, connections: 64 },
} as const;
type Shape = keyof typeof SHAPES;

const WARM_UP_MS = 300;
/** A batch of keys and its checkpoint are written a second or two behind the response. */
const REST = { lookEveryMs: 250, restMs: 2_500, timeoutMs: 30_000 };

/** W, with the data plane alone. */
export async function writtenBytes(
  scenario: Scenario,
  durationMs: number,
): Promise<{ measured: Measured[]; shapes: Record<Shape, WrittenFigures> }> {
  const shapes = {
    W: await writtenBy(scenario, SHAPES.W, durationMs),
    'W/singles': await writtenBy(scenario, SHAPES['W/singles'], durationMs),
  };
  const measured = Object.entries(shapes).map(([id, figures]) => judgedWrites(id, figures));
  return { measured, shapes };
}

export function judgedWrites(id: string, figures: WrittenFigures): Measured {
  const { events, receivedBytes, writtenBytes, grownBytes } = figures;
  const each = (bytes: number) => rounded(bytes / events);
  if (writtenBytes < grownBytes / 2) {
    const counted = `${each(writtenBytes)} B per event where files grew by ${each(grownBytes)}`;
    return { id, note: `the file system does not count what is written: ${counted}` };
  }
  const note = [
    `per event ${each(writtenBytes)} B written, ${each(receivedBytes)} received`,
    `files grew by ${rounded(grownBytes / receivedBytes)} of what was received`,
  ].join('; ');
  return { id, value: rounded(writtenBytes / receivedBytes), note };
}

async function writtenBy(
  scenario: Scenario,
  shape: { batch: number; connections: number },
  durationMs: number,
): Promise<WrittenFigures> {
  const { instance } = scenario;
  const dataPlane = instance.pid('data plane');
  const driver = createDriver(toward(scenario, { ...shape, durationMs }));
  try {
    const figures = await whilePaused(instance.pid('control side'), async () => {
      await driver.run(WARM_UP_MS);
      const before = await atRest(dataPlane, instance.dataDir);
      const { events, bytes } = await driver.run(durationMs);
      const after = await atRest(dataPlane, instance.dataDir);
      return {
        events,
        receivedBytes: bytes,
        writtenBytes: after.written - before.written,
        grownBytes: after.size - before.size,
      };
    });
    await waitForAll(scenario);
    return figures;
  } finally {
    driver.close();
  }
}

/** Once the process has written nothing for a while. */
async function atRest(pid: number, dataDir: string): Promise<{ written: number; size: number }> {
  const endsAt = performance.now() + REST.timeoutMs;
  let written = bytesWrittenBy(pid);
  for (let restedMs = 0; restedMs < REST.restMs; restedMs += REST.lookEveryMs) {
    if (performance.now() > endsAt) throw new Error('the data plane does not stop writing');
    await pass(REST.lookEveryMs);
    const now = bytesWrittenBy(pid);
    if (now !== written) restedMs = 0;
    written = now;
  }
  const { log, keys } = dataDirAt(dataDir);
  return { written, size: (await lengthOfFiles(log)) + (await lengthOfFiles(keys)) };
}

function bytesWrittenBy(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}
