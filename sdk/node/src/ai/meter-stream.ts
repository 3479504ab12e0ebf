import type { Meter } from '../meter/meter.ts';
import type { UsageEvent } from '../meter/usage-event.ts';

/** How many tokens of each kind: `input`, `output`, `cached_input` or what your meters tell apart. */
export type TokenCounts = Readonly<Record<string, number | null | undefined>>;

export interface MeteredStream<Chunk> {
  meter: Pick<Meter, 'track'>;
  /** What the model sends. One with a `controller`, as OpenAI's and Anthropic's have, is aborted by it. */
  stream: AsyncIterable<Chunk>;
  /**
   * What a chunk says of the whole call so far; most say nothing. What it throws says nothing either, nor
   * does a promise.
   */
  tokensOf: (chunk: Chunk) => TokenCounts | null | undefined;
  /** Of a stream that ended before it said so, by its chunks. Without it nothing is counted then. */
  estimate?: (chunks: number) => TokenCounts;
  /** Without `value`; the kind is the property `kind`. Its key, if it has one, gets the kind behind it. */
  event: Omit<UsageEvent, 'value'>;
}

/**
 * Passes a stream of a model on, and counts its tokens once when it ends: in order, by an error, or because
 * the caller does not read on, also while the model is silent.
 */
export function meterStream<Chunk>(metered: MeteredStream<Chunk>): AsyncIterableIterator<Chunk> {
  return new CountedStream(metered);
}

interface Abortable {
  readonly controller?: { abort?(): void };
}

/** Not a generator: that would begin with the first chunk, and could not end while it waits for one. */
class CountedStream<Chunk> implements AsyncIterableIterator<Chunk> {
  private readonly metered: MeteredStream<Chunk>;
  private readonly source: AsyncIterator<Chunk>;
  private counts: TokenCounts | undefined;
  private chunks = 0;
  private isOver = false;
  /** Of what waits for a chunk: called when the caller does not read on. */
  private readonly waiting = new Set<() => void>();

  constructor(metered: MeteredStream<Chunk>) {
    this.metered = metered;
    this.source = metered.stream[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Chunk>> {
    if (this.isOver) return END;
    try {
      const result = await this.nextOrEnd();
      if (result.done) this.end();
      else if (!this.isOver) this.read(result.value);
      return result.done ? END : result;
    } catch (error) {
      this.end();
      throw error;
    }
  }

  /** Ends the stream of the model too. It may take its time: the caller does not wait for it. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    if (this.isOver) return END;
    this.end();
    for (const leave of this.waiting) leave();
    // A generator that waits, or that has not begun, does not end by its `return`.
    silently(() => (this.metered.stream as Abortable).controller?.abort?.());
    try {
      Promise.resolve(this.source.return?.()).catch(() => undefined);
    } catch {
      // The caller has what it wanted.
    }
    return END;
  }

  private async nextOrEnd(): Promise<IteratorResult<Chunk>> {
    let leave = (): void => undefined;
    try {
      // Not a race of two promises: the one that stays open would keep each chunk.
      return await new Promise((resolve, reject) => {
        leave = () => resolve(END);
        this.waiting.add(leave);
        this.source.next().then(resolve, reject);
      });
    } finally {
      this.waiting.delete(leave);
    }
  }

  private read(chunk: Chunk): void {
    this.chunks += 1;
    this.counts = silently(() => this.metered.tokensOf(chunk)) ?? this.counts;
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    const { meter, estimate, event } = this.metered;
    const counts = this.counts ?? silently(() => estimate?.(this.chunks));
    for (const one of eventsOf(event, counts ?? {})) meter.track(one);
  }
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** The stream goes on whatever becomes of its count. A promise, which no type allows here, says nothing. */
function silently<T>(read: () => T): T | undefined {
  try {
    const value = read();
    if (!(value instanceof Promise)) return value;
    value.catch(() => undefined);
    return undefined;
  } catch {
    return undefined;
  }
}

function eventsOf(event: MeteredStream<unknown>['event'], counts: TokenCounts): UsageEvent[] {
  return Object.entries(counts).flatMap(([kind, value]) => {
    if (typeof value !== 'number' || !(value > 0)) return [];
    const key =
      event.idempotencyKey === undefined ? {} : { idempotencyKey: `${event.idempotencyKey}:${kind}` };
    return [{ ...event, ...key, value, properties: { ...event.properties, kind } }];
  });
}
