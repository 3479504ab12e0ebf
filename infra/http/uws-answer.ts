import type { HttpResponse } from 'uWebSockets.js';
import { API_VERSION, announcedLength, forbidsBody, isBodiless, oneLine, statusLine } from './answer-head.ts';

export interface AnswerOwner {
  readonly method: string;
  readonly requestId: string;
  /** True while the front closes: clients are told not to come back on this connection. */
  isClosing(): boolean;
  /** The client takes less than is given: so much is held for it. */
  blocked(heldBytes: number): void;
  /** It took something, and more may be written. */
  drained(): void;
  /** The native side has taken the whole answer; `res` must not be touched any more. */
  complete(): void;
}

/**
 * Writes one answer to uWebSockets.js, whole or in pieces. Whoever uses it sees to it that the client
 * is still there. A class because one is made for every request.
 */
export class UwsAnswer {
  private readonly res: HttpResponse;
  private readonly owner: AnswerOwner;
  private status = 0;
  private headers: Array<[string, string]> = [];
  private announced: number | undefined;
  private bytes = 0;
  /** An answer that is small and of known length is gathered and sent at once, with its Content-Length. */
  private gathered: Buffer[] | undefined;
  private headSent = false;
  private onTaken: (() => void) | undefined;
  isBlocked = false;

  constructor(res: HttpResponse, owner: AnswerOwner) {
    this.res = res;
    this.owner = owner;
  }

  /** A whole answer. `onTaken`: the native side has all of its body. */
  send(status: number, headers: Array<[string, string]>, body: Buffer, onTaken?: () => void): void {
    this.onTaken = onTaken;
    this.res.cork(() => {
      this.writeHead(status, headers);
      if (isBodiless(this.owner.method, status)) this.endWithoutBody(status, body.length);
      else if (body.length === 0) this.endNow();
      else this.sendBody(body);
    });
  }

  begin(status: number, headers: Array<[string, string]>): void {
    this.status = status;
    this.headers = headers.filter(([name]) => name.toLowerCase() !== 'content-length');
    this.announced = announcedLength(headers);
    if (this.announced !== undefined && this.announced <= GATHERED_BYTES_MAX) this.gathered = [];
  }

  /** False: wait for `drained`. */
  write(piece: Buffer): boolean {
    this.bytes += piece.length;
    if (isBodiless(this.owner.method, this.status)) return true;
    this.gathered?.push(piece);
    if (this.gathered === undefined) this.writePiece(piece);
    else if (this.bytes > GATHERED_BYTES_MAX) this.flush();
    return !this.isBlocked;
  }

  /** Sends what was gathered, when the end is not to come yet. */
  flush(): void {
    const gathered = this.gathered;
    this.gathered = undefined;
    if (gathered !== undefined) this.writePiece(joined(gathered));
  }

  /** False when less was written than was announced. */
  isWhole(): boolean {
    if (this.announced === undefined || isBodiless(this.owner.method, this.status)) return true;
    return this.announced === this.bytes;
  }

  /** Ends an answer in pieces. Not while it is blocked: what the client has not taken would be cut off. */
  end(): void {
    if (this.headSent) this.res.cork(() => this.endNow());
    else if (isBodiless(this.owner.method, this.status)) this.sendHeadOnly();
    else this.send(this.status, this.headers, joined(this.gathered ?? []));
  }

  /**
   * `tryEnd` keeps what the client does not take in our buffer and the answer pending, so that a client who
   * sends request after request and reads nothing is closed; `end` would buffer every answer without bound.
   */
  private sendBody(body: Buffer): void {
    const [, whole] = this.res.tryEnd(body, body.length);
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

  private bodyIsTaken(): void {
    this.owner.complete();
    this.onTaken?.();
  }

  private writePiece(piece: Buffer): void {
    const isFirst = !this.headSent;
    this.headSent = true;
    this.res.cork(() => {
      if (isFirst) this.writeHead(this.status, this.headers);
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
      this.writeHead(this.status, this.headers);
      this.endWithoutBody(this.status, this.announced);
    });
  }

  private endNow(): void {
    this.res.end();
    this.owner.complete();
  }

  /** The length as a header of ours: given to `endWithoutBody` the answer stays pending in this version. */
  private endWithoutBody(status: number, length: number | undefined): void {
    if (length !== undefined && !forbidsBody(status)) this.res.writeHeader('Content-Length', String(length));
    this.res.endWithoutBody();
    this.owner.complete();
  }

  private writeHead(status: number, headers: Array<[string, string]>): void {
    const { res, owner } = this;
    res.writeStatus(statusLine(status));
    for (const [name, value] of headers) res.writeHeader(name, oneLine(value));
    res.writeHeader('X-API-Version', API_VERSION);
    res.writeHeader('X-Request-Id', owner.requestId);
    if (owner.isClosing()) res.writeHeader('Connection', 'close');
  }
}

/** Most answers of the control plane are far smaller; larger ones go in chunks as they come. */
const GATHERED_BYTES_MAX = 64 * 1024;

function joined(pieces: Buffer[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}
