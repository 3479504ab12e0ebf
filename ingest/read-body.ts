import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Exchange } from '../infra/ports/http-front.ts';
import type { Refusal } from '../schemas/error-codes.ts';
import type { Admission } from './admission.ts';

/** A body whose bytes are counted as in flight until `release`, which is called once. */
export interface ReadBody {
  body: Buffer;
  release(): void;
}

/** A body, why there is none, or that the client went away. */
export type BodyOutcome = ReadBody | Refusal | 'aborted';

/** Collects a request's whole body, at most `bytesMax`, within what admission allows. */
export function readBody(exchange: Exchange, admission: Admission, bytesMax: number): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let settled = false;
    const release = () => {
      admission.give(bytes);
      bytes = 0;
    };
    const settle = (outcome: BodyOutcome, keep = false) => {
      if (settled) return;
      settled = true;
      if (!keep) release();
      resolve(outcome);
    };
    exchange.onAborted(() => settle('aborted'));
    exchange.readBody(
      (chunk) => {
        if (settled) return;
        if (bytes + chunk.length > bytesMax) return settle(tooLarge(bytesMax));
        if (!admission.take(chunk.length)) return settle(OVERLOADED);
        bytes += chunk.length;
        chunks.push(chunk);
      },
      () =>
        settle({ body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks), release }, true),
    );
  });
}

/**
 * The body as it was before `Content-Encoding: gzip`, at most `bytesMax`; takes over the release of the one
 * that was read. Room for it is taken before it is made: a kilobyte of gzip may become 1 MiB.
 */
export async function inflate(
  read: ReadBody,
  admission: Admission,
  bytesMax: number,
): Promise<ReadBody | Refusal> {
  const packed = read.body;
  read.release();
  if (!admission.take(bytesMax)) return OVERLOADED;
  try {
    const body = await gunzipAsync(packed, { maxOutputLength: bytesMax });
    admission.give(bytesMax - body.length);
    return { body, release: () => admission.give(body.length) };
  } catch (error) {
    admission.give(bytesMax);
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(bytesMax);
    return { code: 'invalid_json', message: 'The body is not valid gzip.' };
  }
}

const gunzipAsync = promisify(gunzip) as (
  body: Buffer,
  options: { maxOutputLength: number },
) => Promise<Buffer>;

const OVERLOADED: Refusal = {
  code: 'overloaded',
  message: 'Too much is in flight; nothing of this request was stored. Send it again in a moment.',
};

export function tooLarge(bytesMax: number): Refusal {
  return {
    code: 'payload_too_large',
    message: `A body has at most ${bytesMax} bytes, inflated; nothing was stored. Send smaller batches.`,
  };
}
