/**
 * The durable log of frames, by partition. A position is the place where a frame begins; positions only grow.
 * Embedded there is one partition, 0, and a position is a byte offset; on Kafka it is a record's offset.
 */
export interface EventLogWriter<Outcome = AppendOutcome> {
  /** Random, made with the log; part of every position, range and token. 16 bytes. */
  readonly logId: Uint8Array;

  /**
   * Writes one frame, given in pieces. Returns only after the bytes are durable and the durable end is
   * published: a reader sees the frame from then on. One call at a time. A frame of one piece in aligned
   * memory (infra/platform/aligned-memory.ts) is written as it lies, and the memory behind it up to the end
   * of the page is overwritten.
   *
   * `no_space`: nothing of the frame is on the log (a torn frame was cut off); the writer continues. Any
   * other failure throws Fatal `log_write_failed`: the page cache can no longer be trusted, the process must
   * stop and reopen.
   */
  append(frame: Uint8Array[]): Promise<Outcome>;

  close(): Promise<void>;
}

export type AppendOutcome = Durable | { status: 'no_space' };

interface Durable {
  status: 'durable';
  position: number;
  end: number;
}

/**
 * One partition of a log that others write as well. It throws nothing: what went wrong is one of the two, and
 * which of them decides what becomes of the claims. The frame's memory is the caller's again when the outcome
 * is known; with an unknown one its bytes may still be on their way.
 */
export type PartitionWriter = EventLogWriter<PartitionOutcome>;

export type PartitionOutcome =
  | Durable
  /** Nothing of the frame is on the log, nor ever will be. */
  | { status: 'not_sent'; cause: unknown }
  /** The frame may be on the log, now or a short time later. */
  | { status: 'unknown'; cause: unknown };

/** What the writer of a log gives up of it, oldest first and in whole stretches. One call at a time. */
export interface LogRetention {
  /** From the oldest frame that is kept to the durable end. */
  extent(): { start: number; end: number };

  /**
   * Everything before this position was written before that time. Milliseconds since 1970. The stretch that
   * is being written is never old.
   */
  writtenBefore(timeMs: number): Promise<number>;

  /**
   * Gives up stretches that end at or before the position, but not the one that is being written. A crash in
   * the middle leaves a log that begins somewhere in between. Reading given-up bytes fails with
   * `log_trimmed`.
   */
  trim(before: number): Promise<void>;
}

export interface EventLogReader {
  readonly logId: Uint8Array;
  /** They are numbered from 0 on. */
  readonly partitions: number;

  /** The durable end of each partition, all read after this call. */
  durableEnds(): Promise<number[]>;

  /**
   * The end of what is durable: no reader goes beyond it, so that a power cut cannot give a position that was
   * read once to other bytes.
   */
  durableEnd(partition: number): Promise<number>;

  /** Where the oldest frame that is kept begins: 0 until something was given up. */
  start(partition: number): Promise<number>;

  /**
   * Whole frames from a position on, up to the durable end, until `bytesMax` of the log is reached (always at
   * least one frame when there is one). Throws Fatal `frame_damaged` naming the place, and Fatal
   * `log_trimmed` when the position is older than what retention kept.
   *
   * The frames are the caller's, with one exception: where it lends `memory` they may be in that, and last
   * only until it uses that again. Into aligned memory a log may be read past the page cache.
   */
  read(partition: number, from: number, bytesMax: number, memory?: ReadMemory): Promise<LogFrame[]>;

  close(): Promise<void>;
}

/** Of the caller of a read, for what is read (infra/platform/memory-pool.ts). */
export interface ReadMemory {
  /** So many bytes, with any content. */
  take(bytes: number): Buffer;
}

export interface LogFrame {
  /** Where the frame begins. */
  position: number;
  /** Where the next one begins: ranges are half-open, [position, next). */
  next: number;
  /** The whole frame, checksum verified; see schemas/stored/frame.ts. */
  bytes: Buffer;
  /** Why this position has no frame of ours. A log that only we write has no such position. */
  foreign?: string;
}

/** The destination of records that are on the log and none of ours. */
export interface DeadLetters {
  /** Resolves when they are durable there. Again with the same ones: they are there twice. */
  put(partition: number, letters: readonly LogFrame[]): Promise<void>;
}
