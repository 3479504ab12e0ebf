/** The source of a body, which pauses while its reader has not come yet or is paused. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

/**
 * The body of one request between a socket that pushes and a reader that may come late.
 *
 * A paused socket still delivers what it has received (up to 512 KiB): that is held here, and nothing more,
 * since the source stays paused until all of it was taken.
 *
 * A class because one is made for every request: closures for seven methods cost more than the rest of it.
 */
export class HeldBody {
  private readonly source: BodySource;
  private held = NOTHING;
  private onChunk: ((chunk: Buffer, isLast: boolean) => void) | undefined;
  private onEnd: (() => void) | undefined;
  private resting = true;
  private complete = false;
  private over = false;
  private delivering = false;
  private sourcePaused = false;

  constructor(source: BodySource) {
    this.source = source;
  }

  /** True once the last chunk has come from the socket. */
  get isComplete(): boolean {
    return this.complete;
  }

  /** From the socket. What cannot be delivered at once is copied: uWebSockets.js takes its memory back. */
  arrived(chunk: ArrayBuffer, isLast: boolean): void {
    if (isLast) this.complete = true;
    if (this.over) return;
    const isEmpty = chunk.byteLength === 0;
    if (!isEmpty && !this.resting && this.held.length === 0) this.give(Buffer.from(chunk));
    else if (!isEmpty) this.hold(Buffer.from(new Uint8Array(chunk)));
    if (this.resting) this.holdBack();
    else this.deliver();
  }

  /** The reader. What came before it is delivered soon, not in this call. */
  read(onChunk: (chunk: Buffer, isLast: boolean) => void, onEnd: () => void): void {
    if (this.onChunk !== undefined) return;
    this.onChunk = onChunk;
    this.onEnd = onEnd;
    this.resting = false;
    if (this.complete || this.held.length > 0) queueMicrotask(() => this.deliver());
    // uWebSockets.js gives an empty chunk with the head alone: that stopped the source, and nothing is held.
    else this.resumeSource();
  }

  pause(): void {
    this.resting = true;
    this.holdBack();
  }

  resume(): void {
    if (this.onChunk === undefined) return;
    this.resting = false;
    this.deliver();
  }

  /** The reader has stopped. A paused source is resumed, so that the connection lives. */
  drop(): void {
    this.over = true;
    this.held = NOTHING;
    this.resumeSource();
  }

  /** The connection is closed: the source must not be touched any more. */
  cut(): void {
    this.over = true;
    this.held = NOTHING;
    this.sourcePaused = false;
  }

  private hold(chunk: Buffer): void {
    if (this.held === NOTHING) this.held = [];
    this.held.push(chunk);
  }

  /** When the reader pauses or resumes in this call, that takes effect after the call returns. */
  private give(chunk: Buffer): void {
    this.delivering = true;
    this.onChunk?.(chunk, this.complete && this.held.length === 0);
    this.delivering = false;
  }

  private deliver(): void {
    if (this.delivering) return;
    while (!this.resting && !this.over) {
      const chunk = this.held.shift();
      if (chunk === undefined) break;
      this.give(chunk);
    }
    if (this.resting || this.over) return;
    if (this.complete) {
      this.over = true;
      this.onEnd?.();
    } else this.resumeSource();
  }

  private holdBack(): void {
    if (this.sourcePaused || this.complete || this.over) return;
    this.sourcePaused = true;
    this.source.pause();
  }

  private resumeSource(): void {
    if (!this.sourcePaused) return;
    this.sourcePaused = false;
    this.source.resume();
  }
}

/** Most bodies come when they can be delivered. */
const NOTHING: Buffer[] = [];
