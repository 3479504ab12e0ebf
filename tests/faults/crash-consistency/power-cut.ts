import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../support/random.ts';
import type { ContentChange, DiskHistory, DiskNode, File, Folder, NameChange } from './disk-history.ts';

/** How much of what was not durable reaches the disk all the same. */
export type Remains = (typeof REMAINS)[number];

/**
 * `nothing`: all after the last sync is lost. `pages` and `sectors`: some of them are written, in any order,
 * and a file may already have its new length. `all`: as after a kill -9.
 */
export const REMAINS = ['nothing', 'pages', 'sectors', 'all'] as const;

export interface PowerCut {
  /** Calls that began before are on their way, those that ended before are in memory at least. */
  time: number;
  remains: Remains;
  random: Random;
}

const UNIT_BYTES: Record<Remains, number> = { nothing: 4096, pages: 4096, sectors: 512, all: 4096 };

/** Puts into `target` what the disk holds after the cut. */
export function cutPower(history: DiskHistory, cut: PowerCut, target: string, names?: string[]): void {
  const folders = namesLeft(history, cut);
  const contents = new Map<File, Buffer>();
  const contentOf = (file: File): Buffer => {
    const content = contents.get(file) ?? contentLeft(file, cut);
    contents.set(file, content);
    return content;
  };
  const put = (node: DiskNode, path: string): void => {
    if (node.kind === 'link') symlinkSync(node.target, path);
    if (node.kind === 'file') writeFileSync(path, contentOf(node), { mode: 0o600 });
    if (node.kind !== 'folder') return;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const [name, below] of folders.get(node) ?? node.before) {
      if (node !== history.root || (names?.includes(name) ?? true)) put(below, join(path, name));
    }
  };
  put(history.root, target);
}

/** Of each journal a beginning remains: at least what is durable, at most what was begun. */
function namesLeft({ renamings }: DiskHistory, cut: PowerCut): Map<Folder, Map<string, DiskNode>> {
  const kept = new Set<NameChange>();
  for (const { changes } of new Set(renamings.map(({ journal }) => journal))) {
    const begun = changes.filter(({ began }) => began <= cut.time);
    const least = begun.findLastIndex(({ durable }) => durable <= cut.time) + 1;
    for (const change of begun.slice(0, least + someOf(begun.length - least, cut))) kept.add(change);
  }
  const folders = new Map<Folder, Map<string, DiskNode>>();
  for (const { names } of renamings.filter((change) => kept.has(change))) {
    for (const { folder, name, node } of names) {
      const now = folders.get(folder) ?? new Map(folder.before);
      folders.set(folder, now);
      if (node) now.set(name, node);
      else now.delete(name);
    }
  }
  return folders;
}

function someOf(count: number, { remains, random }: PowerCut): number {
  if (remains === 'nothing') return 0;
  return remains === 'all' ? count : random.below(count + 1);
}

/** A place's bytes on the disk are those of one time: at least its last sync, at most the cut. */
function contentLeft({ before, bytesBefore, changes }: File, cut: PowerCut): Buffer {
  const begun = changes.filter(({ began }) => began <= cut.time);
  const sizes = sizesAfter(bytesBefore, begun);
  const least = begun.findLastIndex(({ durable }) => durable <= cut.time) + 1;
  const sized = least + someOf(begun.length - least, cut);
  const size = sizes[sized] ?? 0;
  const content = Buffer.alloc(Math.max(...sizes));
  if (before !== undefined) readFileSync(before).copy(content);
  const units = unitsLeft(begun, cut);
  for (const [at, change] of begun.entries()) {
    if (change.bytes) writeUnits(content, change.at, change.bytes, (unit) => units(at, unit));
    else if (at < sized) content.fill(0, change.at);
  }
  return content.subarray(0, size);
}

function sizesAfter(bytesBefore: number, changes: ContentChange[]): number[] {
  const sizes = [bytesBefore];
  for (const { at, bytes } of changes)
    sizes.push(bytes ? Math.max(sizes.at(-1) ?? 0, at + bytes.length) : at);
  return sizes;
}

/** Whether a change reached a unit of the file. */
function unitsLeft(changes: ContentChange[], cut: PowerCut): (change: number, unit: number) => boolean {
  const unitBytes = UNIT_BYTES[cut.remains];
  const least = new Map<number, number>();
  const most = new Map<number, number>();
  for (const [at, { at: offset, bytes, durable }] of changes.entries()) {
    if (!bytes) continue;
    for (let unit = Math.floor(offset / unitBytes); unit * unitBytes < offset + bytes.length; unit++) {
      most.set(unit, at + 1);
      if (durable <= cut.time) least.set(unit, at + 1);
    }
  }
  const reached = new Map<number, number>();
  for (const [unit, last] of most) {
    const sure = least.get(unit) ?? 0;
    reached.set(unit, sure + someOf(last - sure, cut));
  }
  return (change, unit) => change < (reached.get(Math.floor((unit * UNIT_STEP) / unitBytes)) ?? 0);
}

/** Bytes are laid down in the smallest unit. */
const UNIT_STEP = 512;

function writeUnits(
  content: Buffer,
  offset: number,
  bytes: Buffer,
  reaches: (unit: number) => boolean,
): void {
  for (let done = 0; done < bytes.length; ) {
    const unit = Math.floor((offset + done) / UNIT_STEP);
    const length = Math.min(bytes.length - done, (unit + 1) * UNIT_STEP - offset - done);
    if (reaches(unit)) bytes.copy(content, offset + done, done, done + length);
    done += length;
  }
}
