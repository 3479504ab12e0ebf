import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import type { BufferPool } from '../buffer-pool.ts';
import { type Admission, OVERLOADED } from './admission.ts';

/** A body whose bytes are counted as in flight until `release`; it must not be read after that. */
export interface ReadBody {
  body: Buffer;
  /** It is there until `release`. Else the front has lent it for this turn. */
  isKept: boolean;
  release(): void;
}

/** A body, or why there is none. */
export type BodyOutcome = ReadBody | Rejection;

/** What bodies are counted by, and the memory that they lie in. */
export interface BodyBuffers {
  admission: Admission;
  buffers: BufferPool;
  /** Of one body. */
  bytesMax: number;
}

/**
 * Collects a request's whole body, at most `bytesMax`, within what admission allows its environment, and
 * calls `use` with it, once; never where the client disconnects before. A body in one piece, as most are, is
 * not copied but lent: what is to be read after `use` has to be copied.
 */
export function readBody(
  exchange: Exchange,
  environment: string,
  buffers: BodyBuffers,
  use: (outcome: BodyOutcome) => void,
): void {
  const reader = new BodyReader(environment, buffers, use);
  exchange.onAborted(() => reader.abort());
  exchange.readBody(
    (chunk, isLast) => reader.take(chunk, isLast),
    () => reader.settle(),
  );
}

/** The body itself once it is whole. A class because one is made for every request. */
class BodyReader implements ReadBody {
  body: Buffer = NO_BUFFER;
  isKept = true;
  private readonly environment: string;
  private readonly buffers: BodyBuffers;
  private readonly use: (outcome: BodyOutcome) => void;
  /** What a body in several pieces is collected in. */
  private buffer: Buffer = NO_BUFFER;
  private bytes = 0;
  private settled = false;

  constructor(environment: string, buffers: BodyBuffers, use: (outcome: BodyOutcome) => void) {
    this.environment = environment;
    this.buffers = buffers;
    this.use = use;
  }

  take(chunk: Buffer, isLast: boolean): void {
    if (this.settled) return;
    const { admission, bytesMax } = this.buffers;
    if (this.bytes + chunk.length > bytesMax) this.reject(tooLarge(bytesMax));
    else if (!admission.take(this.environment, chunk.length)) this.reject(OVERLOADED);
    else this.add(chunk, isLast);
  }

  settle(lent?: Buffer): void {
    if (this.settled) return;
    this.settled = true;
    this.isKept = lent === undefined;
    this.body = lent ?? this.buffer.subarray(0, this.bytes);
    this.use(this);
  }

  abort(): void {
    if (!this.settled) this.release();
    this.settled = true;
  }

  release(): void {
    const { admission, buffers } = this.buffers;
    admission.give(this.environment, this.bytes);
    buffers.give(this.buffer);
    this.bytes = 0;
    this.buffer = NO_BUFFER;
  }

  /** Its bytes were taken from admission. */
  private add(chunk: Buffer, isLast: boolean): void {
    const before = this.bytes;
    this.bytes += chunk.length;
    if (isLast && before === 0) this.settle(chunk);
    else {
      const { buffers } = this.buffers;
      if (this.bytes > this.buffer.length) this.buffer = larger(buffers, this.buffer, before, chunk.length);
      chunk.copy(this.buffer, before);
    }
  }

  private reject(rejection: Rejection): void {
    this.settled = true;
    this.release();
    this.use(rejection);
  }
}

const NO_BUFFER = Buffer.alloc(0);

/** Room for so many more, with what is there already. Mostly a body comes in one piece. */
function larger(buffers: BufferPool, buffer: Buffer, bytes: number, more: number): Buffer {
  const next = buffers.take(Math.max(bytes + more, 2 * bytes));
  buffer.copy(next, 0, 0, bytes);
  buffers.give(buffer);
  return next;
}

/**
 * The body as it was before `Content-Encoding: gzip`, at most `bytesMax`; takes over the release of the one
 * that was read. Room for it is taken before it is made: a kilobyte of gzip may become 1 MiB.
 */
export async function inflate(
  read: ReadBody,
  environment: string,
  { admission, bytesMax }: Omit<BodyBuffers, 'buffers'>,
): Promise<ReadBody | Rejection> {
  if (!admission.take(environment, bytesMax)) {
    read.release();
    return OVERLOADED;
  }
  try {
    // Read in another thread, and for longer than the body is ours.
    const packed = Buffer.from(read.body);
    const body = await gunzipAsync(packed, { maxOutputLength: bytesMax });
    admission.give(environment, bytesMax - body.length);
    return { body, isKept: true, release: () => admission.give(environment, body.length) };
  } catch (error) {
    admission.give(environment, bytesMax);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(bytesMax);
    // No fault of the body.
    if (code === 'Z_MEM_ERROR' || code === 'ERR_MEMORY_ALLOCATION_FAILED') return OVERLOADED;
    return { code: 'invalid_gzip', message: 'The body is not valid gzip.' };
  } finally {
    read.release();
  }
}

const gunzipAsync = promisify(gunzip) as (
  body: Buffer,
  options: { maxOutputLength: number },
) => Promise<Buffer>;

export function tooLarge(bytesMax: number): Rejection {
  return {
    code: 'payload_too_large',
    message: `A body has at most ${bytesMax} bytes, inflated; nothing was stored. Send smaller batches.`,
  };
}
