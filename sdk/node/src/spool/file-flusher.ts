import { close, closeSync, fdatasync, fdatasyncSync, fsync, fsyncSync, open, openSync } from 'node:fs';
import { unref } from '../meter/unref.ts';

export type FsyncPolicy = 'none' | 'interval' | 'each';

const INTERVAL_MS = 200;

/** Has what was written flushed to the disk, as the policy says. */
export class FileFlusher {
  private readonly policy: FsyncPolicy;
  private readonly failed: (error: Error) => void;
  /** Written since the last flush. */
  private files = new Set<number>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(policy: FsyncPolicy, failed: (error: Error) => void) {
    this.policy = policy;
    this.failed = failed;
  }

  /** Throws, where each event is flushed, what the file system throws. */
  written(fd: number): void {
    if (this.policy === 'each') fdatasyncSync(fd);
    if (this.policy !== 'interval') return;
    this.files.add(fd);
    if (this.timer) return;
    this.timer = setTimeout(() => this.flush(), INTERVAL_MS);
    unref(this.timer);
  }

  /** A name was made in it. */
  folderChanged(path: string): void {
    if (this.policy === 'each') {
      const fd = openSync(path, 'r');
      fsyncSync(fd);
      closeSync(fd);
    } else if (this.policy === 'interval') {
      open(path, 'r', (error, fd) => {
        if (!error) fsync(fd, () => close(fd));
      });
    }
  }

  /** What was written last. */
  close(): void {
    clearTimeout(this.timer);
    for (const fd of this.files) {
      try {
        fdatasyncSync(fd);
      } catch (error) {
        this.report(error as NodeJS.ErrnoException);
      }
    }
    this.files.clear();
  }

  private flush(): void {
    this.timer = undefined;
    const { files } = this;
    this.files = new Set();
    for (const fd of files) fdatasync(fd, (error) => error && this.report(error));
  }

  /** A file whose events are settled is closed by now. */
  private report(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EBADF') this.failed(error);
  }
}
