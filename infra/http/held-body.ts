/** What pushes: told to stop while the reader has not come yet or takes a rest. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

/**
 * The body of one request between a socket that pushes and a reader who may come late.
 *
 * A socket that was told to stop still delivers what it has received (up to 512 KiB): that is held here, and
 * nothing more, since the source stays stopped until all of it was taken.
 *
 * A class because one is made for every request: closures for seven methods cost more than the rest of it.
 */
export class HeldBody {
  private readonly source: BodySource;
  private held: Buffer[] = [];
  private onChunk: ((chunk: Buffer) => void) | undefined;
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

  /** From the socket. The chunk is copied: uWebSockets.js takes its memory back when this returns. */
  arrived(chunk: ArrayBuffer, isLast: boolean): void {
    if (isLast) this.complete = true;
    if (this.over) return;
    if (chunk.byteLength > 0) this.held.push(Buffer.from(new Uint8Array(chunk)));
    if (this.resting) this.holdBack();
    else this.deliver();
  }

  /** The reader. What came before it is delivered soon, not in this call. */
  read(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
    if (this.onChunk !== undefined) return;
    this.onChunk = onChunk;
    this.onEnd = onEnd;
    this.resting = false;
    if (this.complete || this.held.length > 0) queueMicrotask(() => this.deliver());
    // uWebSockets.js gives an empty chunk with the head alone: that stopped the source, and nothing is held.
    else this.letGoOn();
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

  /** Nobody reads any more. A stopped source goes on, so that the connection lives. */
  drop(): void {
    this.over = true;
    this.held = [];
    this.letGoOn();
  }

  /** The connection is gone: the source must not be touched any more. */
  cut(): void {
    this.over = true;
    this.held = [];
    this.sourcePaused = false;
  }

  private deliver(): void {
    if (this.delivering) return;
    this.delivering = true;
    while (!this.resting && !this.over) {
      const chunk = this.held.shift();
      if (chunk === undefined) break;
      this.onChunk?.(chunk);
    }
    this.delivering = false;
    if (this.resting || this.over) return;
    if (this.complete) {
      this.over = true;
      this.onEnd?.();
    } else this.letGoOn();
  }

  private holdBack(): void {
    if (this.sourcePaused || this.complete || this.over) return;
    this.sourcePaused = true;
    this.source.pause();
  }

  private letGoOn(): void {
    if (!this.sourcePaused) return;
    this.sourcePaused = false;
    this.source.resume();
  }
}
