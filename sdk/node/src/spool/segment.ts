import { Buffer } from 'node:buffer';
import { closeSync, openSync, readSync, renameSync, rmSync, statSync, unlink } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SEGMENT_HEAD } from './record.ts';

export const SEGMENT_NAME = /^(\d{8})\.seg$/;

export function segmentName(number: number): string {
  return `${String(number).padStart(8, '0')}.seg`;
}

/** One file of a spool. Its descriptor stays open: another process may move the file meanwhile. */
export class Segment {
  readonly number: number;
  readonly path: string;
  /** Whole records. */
  lengthBytes: number;
  readAt: number;
  settledAt: number;
  /** Nothing is written to it any more. */
  isSealed: boolean;
  damagedBytes = 0;
  private descriptor: number | undefined;

  constructor(path: string, { number, start, isNew }: { number: number; start: number; isNew: boolean }) {
    this.number = number;
    this.path = path;
    this.isSealed = !isNew;
    this.lengthBytes = isNew ? 0 : statSync(path).size;
    this.readAt = Math.min(
      Math.max(start, SEGMENT_HEAD.length),
      Math.max(this.lengthBytes, SEGMENT_HEAD.length),
    );
    this.settledAt = this.readAt;
    if (isNew) this.descriptor = openSync(path, 'wx+');
  }

  /** Throws what the file system throws. */
  get fd(): number {
    this.descriptor ??= openSync(this.path, 'r');
    return this.descriptor;
  }

  /** False for a file of another format. */
  hasHead(): boolean {
    const head = Buffer.alloc(SEGMENT_HEAD.length);
    readSync(this.fd, head, 0, head.length, 0);
    return head.equals(SEGMENT_HEAD);
  }

  unsettledBytes(): number {
    return Math.max(0, this.lengthBytes - this.settledAt);
  }

  untakenBytes(): number {
    return Math.max(0, this.lengthBytes - this.readAt);
  }

  /** Nothing behind `readAt` can be read. */
  damage(): void {
    this.damagedBytes += this.untakenBytes();
    this.readAt = this.lengthBytes;
    this.isSealed = true;
  }

  /**
   * Removes the file, and calls back then; one with damage is kept next to its folder, which may be gone. Not
   * within the call: a file system may take a tenth of a second to free a file.
   */
  retire(whenGone: () => void): void {
    this.close();
    if (this.damagedBytes === 0) {
      unlink(this.path, whenGone);
      return;
    }
    try {
      const folder = dirname(this.path);
      renameSync(this.path, join(dirname(folder), `${basename(folder)}-${basename(this.path)}.damaged`));
    } catch {
      // What stays is sent again, or is taken over and then removed.
    }
    whenGone();
  }

  /** The same of one that is being removed, at once. */
  removeNow(): void {
    rmSync(this.path, { force: true });
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}
