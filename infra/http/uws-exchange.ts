import type { HttpResponse } from 'uWebSockets.js';
import type { Exchange, RequestHeaders } from '../ports/http-front.ts';
import type { Deadlines } from './deadlines.ts';
import { HeldBody } from './held-body.ts';
import type { RequestHead } from './request-head.ts';
import { isBodiless, knownHeaderLines } from './response-head.ts';
import type { UnreadResponses } from './unread-responses.ts';
import { type ResponseOwner, UwsResponse } from './uws-response.ts';

/** What the exchanges of a front share. */
export interface ExchangeOwner {
  readonly closing: boolean;
  /** Bodies on their way. */
  readonly arriving: Deadlines;
  /** Responses that the client does not read. */
  readonly stalled: Deadlines;
  readonly unread: UnreadResponses;
  /** Called once for every exchange. */
  isOver(): void;
}

/**
 * One request on uWebSockets.js. Its `res` may be used until the client disconnects or the response is
 * complete, and not once after: that ends the process. `over` guards every use.
 *
 * A class because one is made for every request.
 */
export class UwsExchange implements Exchange, ResponseOwner {
  /** Nothing more of this connection is read behind this request. */
  readonly isLast: boolean;
  aborted = false;

  private readonly res: HttpResponse;
  private readonly head: RequestHead;
  private readonly owner: ExchangeOwner;
  private readonly body: HeldBody;
  /** Made when it begins: hundreds of requests wait for their flush at a time. */
  private response: UwsResponse | undefined;
  private abortListeners: Array<() => void> | undefined;
  private drainListener: (() => void) | undefined;
  /** `respond` or `begin` was called. */
  private begun = false;
  /** `respond` or `end` was called. */
  private responded = false;
  /** `end` was called and what was written is not ended yet. */
  private endIsDue = false;
  /** The response is complete or the client has disconnected. */
  private over = false;
  private bodyIsAwaited = false;
  private isArriving = false;
  private isStalled = false;

  constructor(res: HttpResponse, head: RequestHead, owner: ExchangeOwner, isLast: boolean) {
    this.res = res;
    this.owner = owner;
    this.isLast = isLast;
    this.head = head;
    this.body = new HeldBody(res);
    // mutant: on-aborted-removed
    res.onAborted(() => this.onDisconnect());
  }

  get method(): string {
    return this.head.method;
  }

  get path(): string {
    return this.head.path;
  }

  get query(): string {
    return this.head.query;
  }

  get requestId(): string {
    return this.head.requestId;
  }

  get headers(): RequestHeaders {
    return this.head.headers;
  }

  /**
   * Called when the handler returns, still in its turn. Not for a request that has its response by then: the
   * native side turns off its clock for the next request when it gives the last chunk to a listener.
   */
  awaitBody(): void {
    if (this.over) return;
    this.bodyIsAwaited = true;
    this.res.onData((chunk, isLast) => this.received(chunk, isLast));
  }

  /** Starts to read the body; in the handler's own turn. */
  sendContinue(): void {
    this.ownResponse().sendContinue();
  }

  onAborted(listener: () => void): void {
    if (this.aborted) listener();
    else if (this.abortListeners === undefined) this.abortListeners = [listener];
    else this.abortListeners.push(listener);
  }

  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void, onEnd: () => void): void {
    this.body.read(onChunk, onEnd);
  }

  pauseBody(): void {
    this.body.pause();
  }

  resumeBody(): void {
    this.body.resume();
  }

  respond(status: number, headers: Record<string, string>, body: Buffer, onTaken?: () => void): void {
    if (this.begun || this.over) return;
    if (this.isBodyOutstanding() && !isBodiless(this.method, status)) {
      this.begin(status, Object.entries(headers));
      this.write(body);
      this.end();
    } else {
      this.begun = true;
      this.responded = true;
      this.body.drop();
      this.ownResponse().send(status, knownHeaderLines(headers), body, onTaken);
    }
  }

  begin(status: number, headers: Array<[string, string]>): void {
    if (this.begun || this.over) return;
    this.begun = true;
    this.ownResponse().begin(status, headers);
  }

  write(chunk: Buffer): boolean {
    if (!this.begun || this.responded || this.over || chunk.length === 0) return true;
    return this.ownResponse().write(chunk);
  }

  onDrain(listener: () => void): void {
    this.drainListener = listener;
  }

  end(): void {
    if (!this.begun || this.responded || this.over) return;
    this.responded = true;
    this.endIsDue = true;
    this.body.drop();
    if (!this.ownResponse().isWhole()) this.breakOff();
    else if (this.isBodyOutstanding()) this.flushAndWait();
    else this.endWhenPossible();
  }

  /** Ends the connection in the middle of a response, so that a client cannot take a part for the whole. */
  breakOff(): void {
    if (!this.over) this.res.close();
  }

  isClosing(): boolean {
    return this.owner.closing;
  }

  blocked(heldBytes: number): void {
    this.isStalled = true;
    this.owner.stalled.start(this);
    this.owner.unread.hold(this, heldBytes);
  }

  drained(): void {
    this.stallIsOver();
    if (this.endIsDue) this.endWhenPossible();
    else this.drainListener?.();
  }

  complete(): void {
    this.over = true;
    if (this.isArriving) this.owner.arriving.stop(this);
    if (this.isStalled) this.stallIsOver();
    this.owner.isOver();
  }

  private ownResponse(): UwsResponse {
    this.response ??= new UwsResponse(this.res, this);
    return this.response;
  }

  private stallIsOver(): void {
    this.owner.stalled.stop(this);
    this.owner.unread.release(this);
  }

  private received(chunk: ArrayBuffer, isLast: boolean): void {
    if (!isLast) this.watchArrival();
    else if (this.isArriving) this.owner.arriving.stop(this);
    this.body.arrived(chunk, isLast);
    if (isLast && this.endIsDue) this.endWhenPossible();
  }

  private watchArrival(): void {
    if (this.isArriving || this.over) return;
    this.isArriving = true;
    this.owner.arriving.start(this);
  }

  private isBodyOutstanding(): boolean {
    return this.bodyIsAwaited && !this.body.isComplete;
  }

  /**
   * A response that was given before its request had ended stays open until the rest of the request was read
   * and discarded. The client can read the response in that time; the native side has no clock for a
   * connection with half a request and a whole response.
   */
  private flushAndWait(): void {
    this.ownResponse().flush();
    this.watchArrival();
  }

  /** What a slow client has not taken yet has to be sent first. */
  private endWhenPossible(): void {
    const response = this.ownResponse();
    if (!this.over && !response.isBlocked && !this.isBodyOutstanding()) response.end();
  }

  private onDisconnect(): void {
    this.aborted = true;
    this.body.cut();
    this.complete();
    for (const listener of this.abortListeners ?? []) listener();
  }
}
