import type { Readable } from 'node:stream';

/** The response of a read that is not JSON. A stream is destroyed when the client disconnects. */
export class RawResponse {
  readonly mediaType: string;
  readonly body: string | Readable;

  constructor(mediaType: string, body: string | Readable) {
    this.mediaType = mediaType;
    this.body = body;
  }
}
