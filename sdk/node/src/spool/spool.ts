import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Added, Claim, TakeLimits } from '../meter/event-queue.ts';
import type { Spool, SpoolListener, SpoolStats } from '../meter/spool-with-memory.ts';
import { ulid } from '../meter/ulid.ts';
import { unref } from '../meter/unref.ts';
import { adoptOrphans } from './adopt.ts';
import { checkSpool } from './checked-spool.ts';
import { FileFlusher, type FsyncPolicy } from './file-flusher.ts';
import { type Owner, releaseOwner, renewOwner, thisProcess, writeOwner } from './owner.ts';
import { SpoolFolder } from './spool-folder.ts';

export interface SpoolOptions {
  /** On a disk of this machine. Processes may share it: each has a folder of its own in it. */
  folder: string;
  /**
   * When events are flushed to the disk. All three survive the end of the process. `none` may lose what the
   * system has not written at a power cut, `interval` the last 200 ms, `each` nothing. Default: `interval`.
   */
  fsync?: FsyncPolicy;
  /** Of events of this process that are not settled, so without those it takes over. Default 256 MiB. */
  bytesMax?: number;
}

const BYTES_MAX = 256 * 1024 * 1024;
const RENEW_MS = 10_000;
const ADOPT_MS = 60_000;
/** After so long without a renewal another process may soon take the folder over. */
const FROZEN_MS = 30_000;
const DAMAGED_FILES_MAX = 4;
/** After a file could not be opened or read. */
const READ_AGAIN_MS = 500;

/**
 * Keeps events in files until they are settled, through the end of the process and through power cuts.
 * Throws a TypeError or a RangeError for an option that cannot be one.
 */
export function openSpool(options: SpoolOptions): Spool {
  return new FolderSpool(options);
}

class FolderSpool implements Spool {
  private readonly root: string;
  private readonly bytesMax: number;
  private readonly owner: Owner = thisProcess();
  private readonly flusher: FileFlusher;
  private listener: SpoolListener = { problem: () => undefined, found: () => undefined };
  private own: SpoolFolder | undefined;
  private id = ulid(Date.now());
  /** Of other processes, and what was ours until another process took it over. */
  private others: SpoolFolder[] = [];
  /** Nothing is read from them just now. */
  private readonly unread = new Map<SpoolFolder, ReturnType<typeof setTimeout>>();
  private damagedBytes = 0;
  private renewedAtMs = 0;
  private timers: Array<ReturnType<typeof setInterval>> = [];

  constructor({ folder, fsync = 'interval', bytesMax = BYTES_MAX }: SpoolOptions) {
    checkSpool({ folder, fsync, bytesMax });
    this.root = folder;
    this.bytesMax = bytesMax;
    this.flusher = new FileFlusher(fsync, (error) => {
      this.listener.problem('spool_not_flushed', `${folder} cannot be flushed: ${error.message}`);
    });
  }

  open(listener: SpoolListener): void {
    if (this.timers.length > 0) throw new Error('A spool is for one meter.');
    this.listener = listener;
    this.attempt('spool_unusable', () => this.makeOwn(Date.now()));
    this.adopt();
    this.timers = [
      setInterval(() => this.renew(Date.now()), RENEW_MS),
      setInterval(() => this.adopt(), ADOPT_MS),
    ];
    for (const timer of this.timers) unref(timer);
  }

  add(payload: string, nowMs: number): Added {
    if (!this.hasRoom(payload.length)) return 'full';
    // A process that was stopped for long, or the clock was set.
    const sinceMs = nowMs - this.renewedAtMs;
    if (sinceMs > FROZEN_MS || sinceMs < 0) this.renew(nowMs);
    const isAdded = this.attempt('spool_unusable', () => {
      this.own ??= this.makeOwn(nowMs);
      this.own.append(payload);
    });
    return isAdded ? 'stored' : 'failed';
  }

  take(limits: TakeLimits): Claim | undefined {
    const claim = this.own && this.takeFrom(this.own, limits);
    if (claim) return claim;
    for (const folder of this.others) {
      const found = this.takeFrom(folder, limits);
      if (found) return closing(found, () => this.removeDrained());
    }
    this.removeDrained();
    return undefined;
  }

  waiting(): number {
    return this.folders().reduce((sum, folder) => sum + folder.waiting(), 0);
  }

  untaken(): { events: number; bytes: number } {
    if (this.own && this.others.length === 0 && this.unread.size === 0) return this.own.untaken();
    return this.folders().reduce(
      (sum, folder) => {
        if (this.unread.has(folder)) return sum;
        const { events, bytes } = folder.untaken();
        return { events: sum.events + events, bytes: sum.bytes + bytes };
      },
      { events: 0, bytes: 0 },
    );
  }

  hasRoom(chars: number): boolean {
    let used = this.own?.unsettledBytes ?? 0;
    for (const folder of this.others) used += folder.isOwn ? folder.unsettledBytes : 0;
    return used + chars < this.bytesMax;
  }

  stats(): SpoolStats {
    let spoolBytes = 0;
    let adoptedBytes = 0;
    for (const { unsettledBytes, isOwn } of this.folders()) {
      spoolBytes += unsettledBytes;
      if (!isOwn) adoptedBytes += unsettledBytes;
    }
    return { mode: 'spool', spoolBytes, adoptedBytes, damagedBytes: this.damagedBytes };
  }

  close(): void {
    for (const timer of [...this.timers, ...this.unread.values()]) clearTimeout(timer);
    this.flusher.close();
    for (const folder of this.folders()) {
      if (folder.close()) continue;
      this.attempt('spool_unusable', () => releaseOwner(folder.path, this.owner));
    }
    this.own = undefined;
    this.others = [];
  }

  private folders(): SpoolFolder[] {
    return this.own ? [this.own, ...this.others] : this.others;
  }

  /** One whose files cannot be opened or read just now, and nothing behind them, waits a while. */
  private takeFrom(folder: SpoolFolder, limits: TakeLimits): Claim | undefined {
    if (this.unread.has(folder)) return undefined;
    try {
      return folder.take(limits);
    } catch (error) {
      this.listener.problem('spool_unreadable', `${folder.path} is read later: ${(error as Error).message}`);
      const timer = setTimeout(() => {
        this.unread.delete(folder);
        this.listener.found();
      }, READ_AGAIN_MS);
      unref(timer);
      this.unread.set(folder, timer);
      return undefined;
    }
  }

  /** Under another name until its owner is in it: another process must not find it without. */
  private makeOwn(nowMs: number): SpoolFolder {
    const id = ulid(nowMs);
    const path = join(this.root, `p-${id}`);
    const fresh = join(this.root, `.${id}`);
    let made: SpoolFolder | undefined;
    try {
      mkdirSync(fresh, { recursive: true, mode: 0o700 });
      writeOwner(fresh, this.owner);
      renameSync(fresh, path);
      made = this.openFolder(path, true);
      this.flusher.folderChanged(this.root);
      this.id = id;
      this.renewedAtMs = nowMs;
      this.own = made;
      return made;
    } catch (error) {
      made?.close();
      for (const left of [fresh, path]) removeWhole(left);
      throw error;
    }
  }

  private openFolder(path: string, isOwn: boolean): SpoolFolder {
    return new SpoolFolder(path, {
      isOwn,
      written: (fd) => this.flusher.written(fd),
      made: (folder) => this.flusher.folderChanged(folder),
      damaged: (file, bytes) => {
        this.damagedBytes += bytes;
        if (existsSync(file)) {
          const message = `${bytes} bytes of ${file} cannot be read; the file is kept.`;
          this.listener.problem('spool_damaged', message);
        } else this.listener.problem('spool_missing', `${file} with ${bytes} bytes was removed.`);
      },
      kept: () => this.removeOldDamage(),
    });
  }

  /** Also finds out that another process has taken the folder over: that continues with a new one. */
  private renew(nowMs: number): void {
    this.renewedAtMs = nowMs;
    for (const folder of this.folders()) {
      try {
        renewOwner(folder.path);
      } catch (error) {
        const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
        if (!isGone || folder !== this.own) continue;
        this.others.push(folder);
        this.own = undefined;
      }
    }
  }

  private adopt(): void {
    const used = new Set(this.folders().map(({ path }) => path));
    this.attempt('spool_unusable', () => {
      for (const path of adoptOrphans({ root: this.root, id: this.id, owner: this.owner, used })) {
        this.attempt('spool_unusable', () => this.others.push(this.openFolder(path, false)));
      }
    });
    this.removeDrained();
    if (this.others.length > 0) this.listener.found();
  }

  private removeDrained(): void {
    this.others = this.others.filter((folder) => folder.waiting() > 0 || !folder.close());
  }

  private removeOldDamage(): void {
    this.attempt('spool_unusable', () => {
      const files = readdirSync(this.root).filter((name) => name.endsWith('.damaged'));
      const dated = files.map((name) => ({ name, atMs: statSync(join(this.root, name)).mtimeMs }));
      const old = dated.sort((a, b) => b.atMs - a.atMs).slice(DAMAGED_FILES_MAX);
      for (const { name } of old) rmSync(join(this.root, name), { force: true });
    });
  }

  private attempt(code: string, act: () => void): boolean {
    try {
      act();
      return true;
    } catch (error) {
      this.listener.problem(code, `${this.root} cannot be used: ${(error as Error).message}`);
      return false;
    }
  }
}

/** What was made of a folder that cannot be used. */
function removeWhole(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It is empty, and is nobody's.
  }
}

function closing({ settle, ...claim }: Claim, whenSettled: () => void): Claim {
  return {
    ...claim,
    settle() {
      settle();
      whenSettled();
    },
  };
}
