import type { HttpResponse } from 'uWebSockets.js';
import { announcedLength, forbidsBody, headerLines, headStart, isBodiless } from './response-head.ts';

export interface ResponseOwner {
  readonly method: string;
  readonly requestId: string;
  /** True while the front closes: responses ask clients not to reuse this connection. */
  isClosing(): boolean;
  /** True where nothing more of this connection is read: it ends with this response. */
  readonly isLast: boolean;
  /** The client takes less than is given: so much is held for it. */
  blocked(heldBytes: number): void;
  /** It took something, and more may be written. */
  drained(): void;
  /** The native side has taken the whole response; `res` must not be used any more. */
  complete(): void;
}

/**
 * Writes one response to uWebSockets.js, whole or in pieces. The caller makes sure that the client is still
 * connected. A class because one is made for every request.
 */
export class UwsResponse {
  private readonly res: HttpResponse;
  private readonly owner: ResponseOwner;
  private status = 0;
  private lines = '';
  private announced: number | undefined;
  private bytes = 0;
  /** A small response of known length is collected and sent at once, with its Content-Length. */
  private buffered: Buffer[] | undefined;
  private headSent = false;
  private continued = false;
  private onTaken: (() => void) | undefined;
  isBlocked = false;

  constructor(res: HttpResponse, owner: ResponseOwner) {
    this.res = res;
    this.owner = owner;
  }

  /**
   * Sends `100 Continue`. The native side writes a status once: an empty line of ours makes it a response of
   * its own, and the real one begins in what the native side takes for a header.
   */
  sendContinue(): void {
    this.continued = true;
    this.res.writeStatus('100 Continue\r\n');
  }

  /** A whole response, `lines` as of headerLines. `onTaken`: the native side has all of its body. */
  send(status: number, lines: string, body: Buffer, onTaken?: () => void): void {
    this.onTaken = onTaken;
    const isLast = this.owner.isLast && !isBodiless(this.owner.method, status);
    const endsConnection = isLast && body.length <= LAST_BYTES_MAX;
    this.res.cork(() => {
      this.writeHead(status, lines, endsConnection);
      if (endsConnection) this.endConnection(body);
      else if (isBodiless(this.owner.method, status)) this.endWithoutBody(status, body.length);
      else if (body.length === 0) this.endNow();
      else this.sendBody(body);
    });
  }

  begin(status: number, headers: Array<[string, string]>): void {
    this.status = status;
    this.lines = headerLines(headers.filter(([name]) => name.toLowerCase() !== 'content-length'));
    this.announced = announcedLength(headers);
    if (this.announced !== undefined && this.announced <= BUFFERED_BYTES_MAX) this.buffered = [];
  }

  /** False: wait for `drained`. */
  write(piece: Buffer): boolean {
    this.bytes += piece.length;
    if (isBodiless(this.owner.method, this.status)) return true;
    this.buffered?.push(piece);
    if (this.buffered === undefined) this.writePiece(piece);
    else if (this.bytes > BUFFERED_BYTES_MAX) this.flush();
    return !this.isBlocked;
  }

  /** Sends what was buffered, when the end is not to come yet. */
  flush(): void {
    const buffered = this.buffered;
    this.buffered = undefined;
    if (buffered !== undefined) this.writePiece(joined(buffered));
  }

  /** False when less was written than was announced. */
  isWhole(): boolean {
    if (this.announced === undefined || isBodiless(this.owner.method, this.status)) return true;
    return this.announced === this.bytes;
  }

  /**
   * Ends a response in pieces. Not while it is blocked: the bytes the client has not taken would be cut off.
   */
  end(): void {
    if (this.headSent) this.res.cork(() => this.endNow());
    else if (isBodiless(this.owner.method, this.status)) this.sendHeadOnly();
    else this.send(this.status, this.lines, joined(this.buffered ?? []));
  }

  /**
   * `tryEnd` keeps the bytes that the client does not take in our buffer and the response pending, so that a
   * client that sends request after request and reads nothing is closed; `end` would buffer every response
   * without bound.
   */
  private sendBody(body: Buffer): void {
    const whole = this.res.tryEnd(body, body.length)[1];
    if (whole) this.bodyIsTaken();
    else {
      this.owner.blocked(body.length);
      this.res.onWritable((offset) => this.sendRest(body, offset));
    }
  }

  private sendRest(body: Buffer, offset: number): boolean {
    const [ok, whole] = this.res.tryEnd(body.subarray(offset), body.length);
    if (whole) this.bodyIsTaken();
    else this.owner.blocked(body.length);
    return ok;
  }

  /** Held natively until the client takes it, so only what is small. It also writes `Connection: close`. */
  private endConnection(body: Buffer): void {
    this.res.end(body, true);
    this.bodyIsTaken();
  }

  private bodyIsTaken(): void {
    this.owner.complete();
    this.onTaken?.();
  }

  private writePiece(piece: Buffer): void {
    const isFirst = !this.headSent;
    this.headSent = true;
    this.res.cork(() => {
      if (isFirst) this.writeHead(this.status, this.lines);
      if (!this.res.write(piece)) this.isBlocked = true;
    });
    if (isFirst) this.res.onWritable(() => this.takesMore());
    if (this.isBlocked) this.owner.blocked(piece.length);
  }

  private takesMore(): boolean {
    // With a listener of ours the native side sends what it holds only when something more is written.
    this.res.cork(() => undefined);
    if (!this.isBlocked) return true;
    this.isBlocked = false;
    this.owner.drained();
    return true;
  }

  private sendHeadOnly(): void {
    this.res.cork(() => {
      this.writeHead(this.status, this.lines);
      this.endWithoutBody(this.status, this.announced);
    });
  }

  private endNow(): void {
    this.res.end();
    this.owner.complete();
  }

  /** The length as a header of ours: given to `endWithoutBody` the response stays pending in this version. */
  private endWithoutBody(status: number, length: number | undefined): void {
    if (length !== undefined && !forbidsBody(status)) this.res.writeHeader('Content-Length', String(length));
    this.res.endWithoutBody();
    this.owner.complete();
  }

  /** In one call: each costs as much as the rest of a small response. */
  private writeHead(status: number, lines: string, endsConnection = false): void {
    const { owner } = this;
    let text = headStart(status) + owner.requestId + lines;
    if (!endsConnection && (owner.isLast || owner.isClosing())) text += '\r\nConnection: close';
    if (this.continued) this.writeHeadAsHeader(`HTTP/1.1 ${text}`);
    else this.res.writeStatus(text);
  }

  private writeHeadAsHeader(text: string): void {
    const colon = text.indexOf(': ');
    this.res.writeHeader(text.slice(0, colon), text.slice(colon + 2));
  }
}

/** For a response that ends its connection: a larger one is sent in pieces, as the client reads it. */
const LAST_BYTES_MAX = 16 * 1024;

/** Most responses of the control plane are far smaller; larger ones go in chunks as they come. */
const BUFFERED_BYTES_MAX = 64 * 1024;

function joined(pieces: Buffer[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}
