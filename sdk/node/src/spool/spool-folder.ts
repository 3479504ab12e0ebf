import type { Buffer } from 'node:buffer';
import { ftruncateSync, readdirSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { returnOf } from '../meter/body-buffers.ts';
import { batchOf, type EventBatch } from '../meter/event-batch.ts';
import type { Claim, TakeLimits } from '../meter/event-queue.ts';
import { Cursor } from './cursor.ts';
import { encodeRecord, type Records, readRecords, SEGMENT_HEAD } from './record.ts';
import { SEGMENT_NAME, Segment, segmentName } from './segment.ts';

export interface FolderEvents {
  /** A file that has to be flushed. */
  written(fd: number): void;
  /** A file was made: its name is in the folder. */
  made(folder: string): void;
  /** So many bytes of a segment cannot be read. */
  damaged(path: string, bytes: number): void;
  /** Such a file is now next to the folder. */
  kept(): void;
}

/** Of an event that was not read yet. */
const EVENT_BYTES_GUESSED = 256;
const SEGMENT_BYTES_MAX = 8 * 1024 * 1024;

interface Taken {
  segment: Segment;
  end: number;
  events: number;
  isSettled: boolean;
}

/** The files of one folder: written at the end, read in order, and removed as they are settled. */
export class SpoolFolder {
  readonly path: string;
  /** This process has written it. */
  readonly isOwn: boolean;
  unsettledBytes = 0;
  private readonly events: FolderEvents;
  private readonly cursor: Cursor;
  private readonly segments: Segment[] = [];
  private readonly taken: Taken[] = [];
  /** Settled, and being removed. */
  private readonly leaving = new Set<Segment>();
  private takenEvents = 0;
  private untakenBytes = 0;
  /** Undefined for what another process wrote: that would have to be read first. */
  private written: number | undefined;
  private lastNumber = 0;
  /** Of those that were read last, each: so much is read of the next ones. */
  private eventBytes = EVENT_BYTES_GUESSED;
  private isClosed = false;

  /** `isOwn`: of this process, and empty. Throws what the file system throws. */
  constructor(path: string, { isOwn, ...events }: FolderEvents & { isOwn: boolean }) {
    this.path = path;
    this.isOwn = isOwn;
    this.events = events;
    this.cursor = new Cursor(join(path, 'cursor'));
    if (isOwn) this.written = 0;
    else this.findSegmentsOrClose();
  }

  /** Throws what the file system throws; then nothing was added. */
  append(payload: string): void {
    const record = encodeRecord(payload);
    const segment = this.writable(record.length);
    try {
      // mutant: tracked-before-the-write
      writeWhole(segment.fd, record, segment.lengthBytes);
      this.events.written(segment.fd);
    } catch (error) {
      cutTo(segment.fd, segment.lengthBytes);
      throw error;
    }
    segment.lengthBytes += record.length;
    this.unsettledBytes += record.length;
    this.untakenBytes += record.length;
    if (this.written !== undefined) this.written += 1;
  }

  /** Throws what the file system throws: nothing was taken, and may be another time. */
  take({ eventsMax, bytesMax }: TakeLimits): Claim | undefined {
    for (const segment of [...this.segments]) {
      if (segment.untakenBytes() === 0) continue;
      const { eventBytes } = this;
      const range = { from: segment.readAt, to: segment.lengthBytes, eventsMax, bytesMax, eventBytes };
      const { events, end, isDamaged } = this.read(segment, range);
      const count = events.begins.length;
      if (count > 0) this.eventBytes = (end - segment.readAt) / count;
      segment.readAt = end;
      if (isDamaged) this.damaged(segment);
      if (count > 0) return this.claim(segment, events);
      this.retire();
    }
    return undefined;
  }

  /** An estimate where another process wrote them, and never 0 while there are some. */
  untaken(): { events: number; bytes: number } {
    const bytes = this.untakenBytes;
    return { events: this.written ?? Math.ceil(bytes / EVENT_BYTES_GUESSED), bytes };
  }

  waiting(): number {
    return this.takenEvents + this.untaken().events;
  }

  /** Removes the folder when nothing waits in it. True: it is gone. */
  close(): boolean {
    const isDone = this.waiting() === 0;
    this.isClosed = true;
    for (const segment of this.segments.splice(0)) isDone ? this.remove(segment) : segment.close();
    this.cursor.close();
    if (isDone) removeFolder(this.path, this.leaving);
    return isDone;
  }

  private findSegmentsOrClose(): void {
    try {
      this.findSegments();
    } catch (error) {
      this.cursor.close();
      throw error;
    }
  }

  private findSegments(): void {
    const { segment: settled, position } = this.cursor.start;
    const numbers = readdirSync(this.path).flatMap((name) => Number(SEGMENT_NAME.exec(name)?.[1] ?? 0) || []);
    for (const number of numbers.sort((a, b) => a - b)) {
      const start = number < settled ? Number.POSITIVE_INFINITY : number === settled ? position : 0;
      this.segments.push(new Segment(join(this.path, segmentName(number)), { number, start, isNew: false }));
    }
    this.count();
    this.retire();
  }

  private writable(bytes: number): Segment {
    const last = this.segments.at(-1);
    if (last && !last.isSealed && last.lengthBytes + bytes <= SEGMENT_BYTES_MAX) return last;
    if (last) last.isSealed = true;
    // Also for a file whose head could not be written: what is left of it may be there.
    this.lastNumber += 1;
    const number = this.lastNumber;
    const segment = new Segment(join(this.path, segmentName(number)), { number, start: 0, isNew: true });
    try {
      writeWhole(segment.fd, SEGMENT_HEAD, 0);
      this.events.made(this.path);
    } catch (error) {
      this.remove(segment);
      throw error;
    }
    segment.lengthBytes = SEGMENT_HEAD.length;
    this.segments.push(segment);
    this.retire();
    return segment;
  }

  /** Only what the file says is damage: one that cannot be opened or read just now is whole. */
  private read(segment: Segment, range: Parameters<typeof readRecords>[1]): Records {
    try {
      if (segment.settledAt === SEGMENT_HEAD.length && !segment.hasHead()) return nothingAt(range.from);
      return readRecords(segment.fd, range);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return nothingAt(range.from);
    }
  }

  private damaged(segment: Segment): void {
    const bytes = segment.untakenBytes();
    segment.damage();
    this.events.damaged(segment.path, bytes);
  }

  private claim(segment: Segment, events: EventBatch): Claim {
    const taken = { segment, end: segment.readAt, events: events.begins.length, isSettled: false };
    this.taken.push(taken);
    this.takenEvents += taken.events;
    if (this.written !== undefined) this.written -= taken.events;
    // mutant: cursor-ahead
    this.count();
    const giveBack = returnOf(events.body);
    return {
      events,
      settle: () => {
        giveBack();
        this.settle(taken);
      },
      keep: giveBack,
    };
  }

  /** The cursor moves over what is settled from the front. */
  private settle(taken: Taken): void {
    // A response that comes after the close: the next process sends it again.
    if (this.isClosed) return;
    taken.isSettled = true;
    this.takenEvents -= taken.events;
    let last: Taken | undefined;
    while (this.taken[0]?.isSettled) {
      last = this.taken.shift();
      if (last) last.segment.settledAt = last.end;
    }
    if (last) this.moveCursor({ segment: last.segment.number, position: last.end });
    this.retire();
  }

  private moveCursor(position: Parameters<Cursor['write']>[0]): void {
    try {
      this.cursor.write(position);
    } catch {
      // An old one has events sent again.
    }
  }

  /** Files that nothing is read from, or written to, any more. */
  private retire(): void {
    const isDone = (segment: Segment): boolean =>
      segment.isSealed && segment.untakenBytes() === 0 && !this.taken.some((one) => one.segment === segment);
    for (const segment of this.segments.splice(0, firstNot(this.segments, isDone))) this.remove(segment);
    this.count();
  }

  private remove(segment: Segment): void {
    this.leaving.add(segment);
    segment.retire(() => this.leaving.delete(segment));
    if (segment.damagedBytes > 0) this.events.kept();
  }

  private count(): void {
    const sum = (of: (segment: Segment) => number) => this.segments.reduce((all, one) => all + of(one), 0);
    this.unsettledBytes = sum((segment) => segment.unsettledBytes());
    this.untakenBytes = sum((segment) => segment.untakenBytes());
    if (this.untakenBytes === 0 && this.written !== undefined) this.written = 0;
  }
}

/** How many at the beginning are so. */
function firstNot<T>(list: readonly T[], isSo: (one: T) => boolean): number {
  const at = list.findIndex((one) => !isSo(one));
  return at < 0 ? list.length : at;
}

function nothingAt(end: number): Records {
  return { events: batchOf([]), end, isDamaged: true };
}

/** What a write that failed has left would be damage. If it cannot be cut, the next write is in its place. */
function cutTo(fd: number, lengthBytes: number): void {
  try {
    ftruncateSync(fd, lengthBytes);
  } catch {
    // As above.
  }
}

function writeWhole(fd: number, bytes: Buffer, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, position + at);
}

function removeFolder(path: string, leaving: Iterable<Segment>): void {
  try {
    for (const segment of leaving) segment.removeNow();
    for (const name of ['cursor', 'owner.json']) rmSync(join(path, name), { force: true });
    rmdirSync(path);
  } catch {
    // Another process has taken it over, or there is more in it.
  }
}
