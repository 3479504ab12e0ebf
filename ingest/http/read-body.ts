import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import type { BufferPool } from '../buffer-pool.ts';
import { type Admission, OVERLOADED } from './admission.ts';

/** A body whose bytes are counted as in flight until `release`; it must not be read after that. */
export interface ReadBody {
  body: Buffer;
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
 * not copied: `use` may read it, and what is to be read after that has to be copied.
 */
export function readBody(
  exchange: Exchange,
  environment: string,
  { admission, buffers, bytesMax }: BodyBuffers,
  use: (outcome: BodyOutcome) => void,
): void {
  let buffer: Buffer = NO_BUFFER;
  let bytes = 0;
  let settled = false;
  const release = () => {
    admission.give(environment, bytes);
    buffers.give(buffer);
    bytes = 0;
    buffer = NO_BUFFER;
  };
  const settle = (outcome: BodyOutcome) => {
    if (settled) return;
    settled = true;
    if ('code' in outcome) release();
    use(outcome);
  };
  exchange.onAborted(() => {
    if (!settled) release();
    settled = true;
  });
  exchange.readBody(
    (chunk, isLast) => {
      if (settled) return;
      if (bytes + chunk.length > bytesMax) return settle(tooLarge(bytesMax));
      if (!admission.take(environment, chunk.length)) return settle(OVERLOADED);
      const before = bytes;
      bytes += chunk.length;
      if (isLast && before === 0) return settle({ body: chunk, release });
      if (bytes > buffer.length) buffer = larger(buffers, buffer, before, chunk.length);
      chunk.copy(buffer, before);
    },
    () => settle({ body: buffer.subarray(0, bytes), release }),
  );
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
    return { body, release: () => admission.give(environment, body.length) };
  } catch (error) {
    admission.give(environment, bytesMax);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(bytesMax);
    // No fault of the body.
    if (code === 'Z_MEM_ERROR' || code === 'ERR_MEMORY_ALLOCATION_FAILED') return OVERLOADED;
    return { code: 'invalid_json', message: 'The body is not valid gzip.' };
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
