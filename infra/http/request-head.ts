import { errorBody } from '../../schemas/error-codes.ts';
import type { RequestHeaders } from '../ports/http-front.ts';

/** What is known of a request before its body. */
export interface RequestHead {
  method: string;
  path: string;
  query: string;
  headers: RequestHeaders;
  requestId: string;
  /** Of request line and headers, as text. */
  headerChars: number;
}

export type Framing = 'plain' | 'chunked' | 'ambiguous';

/**
 * `ambiguous` where two readers may take different bytes for the end of the body: such a connection is closed
 * (RFC 9112, 6.3). Two lengths are one joined value here, and so no number.
 */
export function framingOf(headers: RequestHeaders): Framing {
  const length = headers.get('content-length');
  const coding = headers.get('transfer-encoding');
  if (coding !== undefined)
    return coding.toLowerCase() === 'chunked' && length === undefined ? 'chunked' : 'ambiguous';
  return length === undefined || LENGTH.test(length) ? 'plain' : 'ambiguous';
}

const LENGTH = /^\d{1,15}$/;

/** Bytes a header line takes in addition to name and value: a colon, a space and the line's end. */
export const HEADER_LINE_BYTES = 4;
/** The same for the request line: two spaces, `HTTP/1.1` and the line's end. */
export const REQUEST_LINE_BYTES = 12;

/**
 * True where request line and headers take more bytes than that. Bytes are those of the text in UTF-8, as the
 * control plane receives it: a byte that is no UTF-8 counts as its replacement. They are counted only where
 * the number of characters does not decide, so not for an ordinary request.
 */
export function isTooLarge(head: RequestHead, bytesMax: number): boolean {
  const { headerChars } = head;
  if (headerChars > bytesMax) return true;
  return headerChars * BYTES_PER_CHARACTER_MAX > bytesMax && headerChars + bytesBeyond(head) > bytesMax;
}

/** Of UTF-8, per UTF-16 unit. */
const BYTES_PER_CHARACTER_MAX = 3;

/** What the text takes beyond a byte for each character. */
function bytesBeyond({ method, path, query, headers }: RequestHead): number {
  let beyond = 0;
  for (const text of [method, path, query, ...[...headers].flat()])
    beyond += Buffer.byteLength(text) - text.length;
  return beyond;
}

/** The body of a 431. */
export function headersTooLarge(headerBytesMax: number, requestId: string): Buffer {
  const message = `The header block is larger than ${headerBytesMax} bytes. Send fewer or shorter headers.`;
  return Buffer.from(errorBody({ code: 'headers_too_large', message }, requestId));
}

/** The body of a 500: nothing of the inside. */
export function internalError(requestId: string): Buffer {
  const message =
    'The request could not be handled. Try again, and give this request id if the error persists.';
  return Buffer.from(errorBody({ code: 'internal', message }, requestId));
}
