import { open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRetention } from '../ports/event-log.ts';
import type { OpenSegment } from './open-tail.ts';
import { listSegments, segmentName } from './segment-file.ts';

/**
 * Gives up whole segments. `current` is the one that is written: while the next one is being made there are
 * two at the end, and when the disk has no room for that one the old one is continued.
 */
export function createRetention(directory: string, current: () => OpenSegment): LogRetention {
  let start = listSegments(directory)[0] ?? 0;

  /** Those that are complete, each with where it ends. */
  function fullSegments(): Array<{ path: string; base: number; end: number }> {
    // mutant: written-segment-trimmed
    const bases = listSegments(directory).filter((base) => base <= current().base);
    return bases.slice(0, -1).map((base, at) => {
      return { path: join(directory, segmentName(base)), base, end: bases[at + 1] ?? base };
    });
  }

  return {
    extent() {
      const { base, frameBytes } = current();
      return { start, end: base + frameBytes };
    },
    async writtenBefore(timeMs) {
      for (const { path, base } of fullSegments()) {
        if ((await stat(path)).mtimeMs >= timeMs) return base;
      }
      return current().base;
    },
    async trim(before) {
      const given = fullSegments().filter(({ end }) => end <= before);
      if (given.length === 0) return;
      const folder = await open(directory, 'r');
      try {
        for (const { path, end } of given) {
          await rm(path, { force: true });
          // Each durable before the next: a power cut that takes one of them back must leave no gap behind.
          await folder.sync();
          start = end;
        }
      } finally {
        await folder.close();
      }
    },
  };
}
