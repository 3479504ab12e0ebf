import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/*
 * What happened to a folder, change by change, each with the time from which on a power cut cannot undo it.
 * The rules of being durable are POSIX' own, which promise less than any one file system does:
 *
 * - bytes are durable when an fsync or fdatasync of their file that began after the write has returned, or
 *   when a write through a descriptor with O_DSYNC has;
 * - a name is durable when an fsync of its folder that began after the change has returned. To sync the
 *   file itself does nothing for its name.
 */
export interface DiskHistory {
  root: Folder;
  /** In the order in which they happened. */
  renamings: NameChange[];
}

/** Times are line numbers of the recording. */
export interface Span {
  began: number;
  ended: number;
  durable: number;
}

export type DiskNode = File | Folder | Link;

export interface File {
  kind: 'file';
  /** Path of a copy of its contents before the recording. */
  before: string | undefined;
  /** Of that copy. */
  bytesBefore: number;
  changes: ContentChange[];
  /** How many of the changes were taken up by a sync so far. */
  synced: number;
}

export interface Folder {
  kind: 'folder';
  before: Map<string, DiskNode>;
  now: Map<string, DiskNode>;
  /** Names that become durable in one order: those of this folder, or of a whole store. */
  journal: Journal;
}

export interface Link {
  kind: 'link';
  target: string;
}

/** Bytes written, or (without bytes) the length that the file was given. */
export interface ContentChange extends Span {
  at: number;
  bytes?: Buffer;
}

/** One act: a rename takes a name away and gives one. */
export interface NameChange extends Span {
  names: Array<{ folder: Folder; name: string; node: DiskNode | undefined }>;
  journal: Journal;
}

/**
 * `ordered` is for stores that trust their file system beyond POSIX, as Postgres and ClickHouse do: there a
 * sync of a file or folder also makes durable what was done to its names, and to all names before. So it is
 * on ext4 and XFS: they write one journal, in order, up to the last change that the sync is about.
 */
export interface Journal {
  ordered: boolean;
  changes: NameChange[];
}

export function newFile(before?: string): File {
  const bytesBefore = before === undefined ? 0 : lstatSync(before).size;
  return { kind: 'file', before, bytesBefore, changes: [], synced: 0 };
}

export function newFolder(journal: Journal = { ordered: false, changes: [] }): Folder {
  return { kind: 'folder', before: new Map(), now: new Map(), journal };
}

/** A folder on the disk; its contents must stay while the history is used. */
export function folderFrom(path: string, journalOf: (name: string) => Journal | undefined): Folder {
  const folder = newFolder();
  for (const name of readdirSync(path)) {
    folder.before.set(name, nodeFrom(join(path, name), journalOf(name)));
  }
  folder.now = new Map(folder.before);
  return folder;
}

function nodeFrom(path: string, journal: Journal | undefined): DiskNode {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(path) };
  if (!stats.isDirectory()) return newFile(path);
  const folder = newFolder(journal);
  for (const name of readdirSync(path)) folder.before.set(name, nodeFrom(join(path, name), journal));
  folder.now = new Map(folder.before);
  return folder;
}

/**
 * Of each file, and of all names together, the times at which something began, returned or became durable:
 * between two of them nothing is new.
 */
export function turningPoints({ root, renamings }: DiskHistory): number[][] {
  const named = renamings.flatMap(({ names }) => names.flatMap(({ node }) => node ?? []));
  const files = [...new Set([...everyNode(root), ...named])];
  const changes: Span[][] = files.map((node) => (node.kind === 'file' ? node.changes : []));
  return [...changes, renamings].map(timesOf).filter((times) => times.length > 0);
}

function everyNode(folder: Folder): DiskNode[] {
  const below = [...folder.before.values()];
  return below.flatMap((node) => [node, ...(node.kind === 'folder' ? everyNode(node) : [])]);
}

function timesOf(spans: Span[]): number[] {
  const times = spans.flatMap(({ began, ended, durable }) => [began, ended, durable]);
  return [...new Set(times.filter(Number.isFinite))].sort((a, b) => a - b);
}
