import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { bytesOf, lastNumberOf, pathsOf, type SystemCall } from '../../support/system-calls.ts';
import {
  type DiskHistory,
  type DiskNode,
  type File,
  type Folder,
  folderFrom,
  type Journal,
  type NameChange,
  newFile,
  newFolder,
} from './disk-history.ts';
import { createOpenFiles, type OpenFile, type OpenFiles } from './open-files.ts';

export interface RecordingOf {
  /** The folder whose history is wanted. */
  root: string;
  /** A copy of it from before the first call; it has to stay. */
  before: string;
  /** In the order in which they returned. */
  calls: SystemCall[];
  /** Names in the root whose folders trust in an ordered journal; see {@link Journal}. */
  orderedIn?: (name: string) => boolean;
}

/** Throws when a call touches the folder in a way that is not understood. */
export function recordDisk({ root, before, calls, orderedIn = () => false }: RecordingOf): DiskHistory {
  const shared: Journal = { ordered: true, changes: [] };
  const journalOf = (name: string) => (orderedIn(name) ? shared : undefined);
  const history: DiskHistory = { root: folderFrom(before, journalOf), renamings: [] };
  const files = createOpenFiles(calls);
  const at: Place = { root, history, journalOf, files };
  for (const call of files.inOrder) {
    files.follow(call);
    if (call.result === -1 || (Number.isNaN(call.result) && !wasRemoved(at, call))) continue;
    apply(at, call);
  }
  return history;
}

/**
 * Whether a removal had been made when its process was killed in it: no later call finds that name. Any other
 * call without a result counts as not made.
 */
function wasRemoved({ files }: Place, call: SystemCall): boolean {
  if (!call.name.startsWith('unlink')) return false;
  const pathOf = (other: SystemCall) => pathsOf(other).map((given) => files.absolute(other, given))[0];
  const path = pathOf(call);
  const later = files.inOrder.slice(files.inOrder.indexOf(call) + 1);
  return !later.some((other) => /^(open|unlink)/.test(other.name) && isMade(other) && pathOf(other) === path);
}

function isMade({ result }: SystemCall): boolean {
  return result === undefined || result >= 0;
}

interface Place {
  root: string;
  history: DiskHistory;
  journalOf: (name: string) => Journal | undefined;
  files: OpenFiles;
}

const NEVER = Number.POSITIVE_INFINITY;

type Act = (at: Place, call: SystemCall) => void;

/** By the call's name without the endings of its older or wider forms. */
const ACTS: Record<string, Act> = {
  ...{ open, creat: open, write, pwrite: write, ftruncate, fallocate, fsync, fdatasync: fsync },
  ...{ rename, link, unlink, rmdir: unlink, mkdir, symlink },
};

const NOT_UNDERSTOOD = /^(truncate|copy_file_range|sendfile|msync|sync|syncfs|io_uring_enter)$/;

function apply(at: Place, call: SystemCall): void {
  ACTS[call.name.replace(/(?<!cre)(at2?|64|v2?)$/, '')]?.(at, call);
  if (NOT_UNDERSTOOD.test(call.name) && call.args.includes(at.root)) reject(call);
}

function reject({ name, args }: SystemCall): void {
  throw new Error(`not understood: ${name}(${args.slice(0, 200)}`);
}

function open(at: Place, call: SystemCall): void {
  const [path] = pathsOf(call).map((given) => at.files.absolute(call, given));
  if (path === undefined || relativeTo(at.root, path) === undefined) return;
  const flags = call.args.slice(call.args.lastIndexOf('"'));
  let node = find(at, path);
  if (!node && !flags.includes('O_CREAT')) return;
  if (!node) {
    node = newFile();
    name(at, call, [[path, node]]);
  }
  if (node.kind === 'link') throw new Error(`not understood: a link at the end of ${path}`);
  if (node.kind === 'file' && flags.includes('O_TRUNC')) resize(node, 0, call);
  at.files.open(call, { node, at: 0, append: flags.includes('O_APPEND'), dsync: /O_D?SYNC/.test(flags) });
}

function write(at: Place, call: SystemCall): void {
  const file = opened(at, call);
  if (file?.node.kind !== 'file') return;
  const given = bytesOf(call);
  const bytes = given.subarray(0, call.result ?? given.length);
  const placed = call.name.startsWith('p');
  const offset = placed ? offsetOf(call) : file.append ? sizeOf(file.node) : file.at;
  if (!placed) file.at = offset + bytes.length;
  const durable = file.dsync ? call.ended : NEVER;
  file.node.changes.push({ at: offset, bytes, began: call.began, ended: call.ended, durable });
}

/** Throws when a file of the folder is used whose opening was not seen. */
function opened({ root, files }: Place, call: SystemCall): OpenFile | undefined {
  const file = files.of(call);
  const path = /^\d+<([^>]*)>/.exec(call.args.slice(0, 1000))?.[1];
  if (!file && path !== undefined && relativeTo(root, path) !== undefined) reject(call);
  return file;
}

/** pwritev2 has flags behind the offset. */
function offsetOf(call: SystemCall): number {
  if (call.name !== 'pwritev2') return lastNumberOf(call);
  return lastNumberOf({ ...call, args: call.args.slice(0, call.args.lastIndexOf(',')) });
}

function ftruncate(at: Place, call: SystemCall): void {
  const file = opened(at, call);
  if (file?.node.kind === 'file') resize(file.node, lastNumberOf(call), call);
}

function fallocate(at: Place, call: SystemCall): void {
  const file = opened(at, call);
  if (file?.node.kind !== 'file') return;
  const [mode, from = 0, bytes = 0] = call.args
    .slice(call.args.indexOf(',') + 1)
    .split(',')
    .map(Number);
  if (mode !== 0) reject(call);
  if (from + bytes > sizeOf(file.node)) resize(file.node, from + bytes, call);
}

function resize(file: File, size: number, { began, ended }: SystemCall): void {
  file.changes.push({ at: size, began, ended, durable: NEVER });
}

function fsync(at: Place, call: SystemCall): void {
  const node = opened(at, call)?.node;
  if (node?.kind === 'file') syncContent(node, call);
  if (node?.kind === 'folder' && !node.journal.ordered) syncNames(node.journal.changes, call);
  const journal = node && orderedJournalOf(node);
  if (!journal) return;
  const taken = (change: NameChange) => change.ended < call.began && isTaken(change, node, call.name);
  syncNames(journal.changes.slice(0, journal.changes.findLastIndex(taken) + 1), call);
}

/**
 * Whether a journal that is written for this file or folder holds the change. To fdatasync a new name of an
 * old file is no data: ext4 and XFS leave it for later.
 */
function isTaken({ names }: NameChange, synced: DiskNode, by: string): boolean {
  const isNew = names.length === 1;
  return names.some(
    ({ folder, node }) => folder === synced || (node === synced && (isNew || by === 'fsync')),
  );
}

function syncContent(file: File, { began, ended }: SystemCall): void {
  for (; file.synced < file.changes.length; file.synced++) {
    const change = file.changes[file.synced];
    if (!change || change.ended > began) return;
    change.durable = Math.min(change.durable, ended);
  }
}

const journals = new WeakMap<DiskNode, Journal>();

function orderedJournalOf(node: DiskNode): Journal | undefined {
  return node.kind === 'folder' && node.journal.ordered ? node.journal : journals.get(node);
}

function syncNames(changes: NameChange[], { began, ended }: SystemCall): void {
  for (let at = changes.length - 1; at >= 0; at--) {
    const change = changes[at];
    if (!change || change.ended > began) continue;
    if (change.durable <= ended) return; // and so are all before it
    change.durable = ended;
  }
}

function rename(at: Place, call: SystemCall): void {
  const [from, to] = pathsOf(call).map((given) => at.files.absolute(call, given));
  if (from === undefined || to === undefined) return;
  const node = find(at, from);
  if (!node && relativeTo(at.root, to) === undefined) return;
  if (!node) throw new Error(`${from} is renamed into the folder from outside`);
  name(at, call, [
    [from, undefined],
    [to, node],
  ]);
}

function link(at: Place, call: SystemCall): void {
  const [from, to] = pathsOf(call).map((given) => at.files.absolute(call, given));
  const node = from === undefined ? undefined : find(at, from);
  if (node && to !== undefined) name(at, call, [[to, node]]);
}

function unlink(at: Place, call: SystemCall): void {
  const [path] = pathsOf(call).map((given) => at.files.absolute(call, given));
  if (path !== undefined && find(at, path, false)) name(at, call, [[path, undefined]]);
}

function mkdir(at: Place, call: SystemCall): void {
  const [path] = pathsOf(call).map((given) => at.files.absolute(call, given));
  const inside = path && relativeTo(at.root, path);
  if (path && inside) name(at, call, [[path, newFolder(at.journalOf(inside.split('/')[0] ?? ''))]]);
}

function symlink(at: Place, call: SystemCall): void {
  const [target, given] = pathsOf(call);
  const path = given && at.files.absolute(call, given);
  if (!target || path === undefined || relativeTo(at.root, path) === undefined) return;
  name(at, call, [[path, { kind: 'link', target: target.path }]]);
}

/** Gives and takes names, as one act. */
function name(at: Place, call: SystemCall, given: Array<[path: string, node: DiskNode | undefined]>): void {
  const names = given.map(([path, node]) => ({ folder: folderAbove(at, path), name: basename(path), node }));
  const last = names.at(-1);
  if (!last) return;
  const { journal } = last.folder;
  const change = { names, journal, began: call.began, ended: call.ended, durable: NEVER };
  at.history.renamings.push(change);
  for (const one of new Set(names.map(({ folder }) => folder.journal))) one.changes.push(change);
  for (const { folder, name: one, node } of names) {
    if (node) folder.now.set(one, node);
    else folder.now.delete(one);
    if (node?.kind === 'file' && folder.journal.ordered) journals.set(node, folder.journal);
  }
}

function folderAbove(at: Place, path: string): Folder {
  const above = find(at, dirname(path));
  if (above?.kind === 'folder') return above;
  throw new Error(`${dirname(path)} is no folder that is known`);
}

/** The current entry. Links on the way are followed, and one at the end unless `follow` is false. */
function find(at: Place, path: string, follow = true): DiskNode | undefined {
  const inside = relativeTo(at.root, path);
  if (inside === undefined) return undefined;
  let node: DiskNode | undefined = at.history.root;
  let reached = at.root;
  const steps = inside === '' ? [] : inside.split('/');
  for (const [index, step] of steps.entries()) {
    if (node?.kind !== 'folder') return undefined;
    node = node.now.get(step);
    const isEnd = index === steps.length - 1;
    if (node?.kind === 'link' && (follow || !isEnd)) {
      const target: string = isAbsolute(node.target) ? node.target : join(reached, node.target);
      node = find(at, target);
    }
    reached = join(reached, step);
  }
  return node;
}

function relativeTo(root: string, path: string): string | undefined {
  const inside = relative(root, path);
  return inside.startsWith('..') || isAbsolute(inside) ? undefined : inside;
}

function sizeOf({ bytesBefore, changes }: File): number {
  return changes.reduce(
    (size, { at, bytes }) => (bytes ? Math.max(size, at + bytes.length) : at),
    bytesBefore,
  );
}
