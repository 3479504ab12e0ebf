import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_GUARDS } from '../../schemas/http/response-guards.ts';
import type { Exchange, RequestHeaders } from '../ports/http-front.ts';
import type { RequestHead } from './request-head.ts';
import { API_VERSION, announcedLength, forbidsBody, isBodiless, oneLine } from './response-head.ts';
import type { UnreadResponses } from './unread-responses.ts';

export interface NodeExchangeParts {
  req: IncomingMessage;
  res: ServerResponse;
  head: RequestHead;
  /** How long a client may take no bytes of a response that waits for it. */
  responseStallMs: number;
  unread: UnreadResponses;
  /** True while the front closes: responses ask clients not to reuse this connection. */
  isClosing: () => boolean;
}

/** One request on node:http. A class like the native one. */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly requestId: string;
  readonly headers: RequestHeaders;
  aborted = false;

  private readonly req: IncomingMessage;
  private readonly res: ServerResponse;
  private readonly responseStallMs: number;
  private readonly unread: UnreadResponses;
  private readonly isClosing: () => boolean;
  private readonly abortListeners: Array<() => void> = [];
  private drainListener: (() => void) | undefined;
  private reading = false;
  private resting = false;
  /** Node gives the end of a body to a paused reader when nothing else is left. */
  private heldEnd: (() => void) | undefined;
  private begun = false;
  private endCalled = false;
  private complete = false;
  private announced: number | undefined;
  private bytes = 0;

  constructor({ req, res, head, responseStallMs, unread, isClosing }: NodeExchangeParts) {
    this.req = req;
    this.res = res;
    this.responseStallMs = responseStallMs;
    this.unread = unread;
    this.isClosing = isClosing;
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
    this.requestId = head.requestId;
    this.headers = head.headers;
    // Node emits 'finish' as well when the connection is destroyed with the response still in its buffers.
    res.on('finish', () => {
      this.complete = !req.socket.destroyed;
    });
    res.on('close', () => this.connectionOrResponseEnded());
    res.on('drain', () => this.drained());
    // Reported by 'close'; without a listener an error would end the process.
    res.on('error', () => undefined);
    req.on('error', () => undefined);
  }

  onAborted(listener: () => void): void {
    if (this.aborted) listener();
    else this.abortListeners.push(listener);
  }

  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void, onEnd: () => void): void {
    if (this.reading) return;
    this.reading = true;
    this.req.on('data', (chunk: Buffer) => {
      if (this.wantsBody()) onChunk(chunk, false);
    });
    this.req.on('end', () => {
      if (this.resting) this.heldEnd = onEnd;
      else if (this.wantsBody()) onEnd();
    });
  }

  pauseBody(): void {
    if (!this.reading) return;
    this.resting = true;
    this.req.pause();
  }

  resumeBody(): void {
    if (!this.reading) return;
    this.resting = false;
    this.req.resume();
    const end = this.heldEnd;
    this.heldEnd = undefined;
    if (this.wantsBody()) end?.();
  }

  respond(status: number, headers: Record<string, string>, body: Buffer, onTaken?: () => void): void {
    if (this.begun || this.aborted) return;
    if (onTaken) this.res.once('finish', onTaken);
    this.begin(status, Object.entries(headers));
    if (!forbidsBody(status)) this.res.setHeader('Content-Length', body.length);
    this.announced = undefined;
    this.finish(body);
  }

  begin(status: number, headers: Array<[string, string]>): void {
    if (this.begun || this.aborted) return;
    this.begun = true;
    this.announced = isBodiless(this.method, status) ? undefined : announcedLength(headers);
    this.res.statusCode = status;
    if (this.isClosing()) this.res.shouldKeepAlive = false;
    const isKept = headers.some(([name]) => name.toLowerCase() === 'cache-control');
    this.res.setHeader('X-Content-Type-Options', RESPONSE_GUARDS['X-Content-Type-Options']);
    if (!isKept) this.res.setHeader('Cache-Control', RESPONSE_GUARDS['Cache-Control']);
    for (const [name, value] of headers) this.res.appendHeader(name, asLatin1(oneLine(value)));
    this.res.setHeader('X-API-Version', API_VERSION);
    this.res.setHeader('X-Request-Id', this.requestId);
  }

  write(chunk: Buffer): boolean {
    if (!this.begun || this.endCalled || this.aborted) return true;
    this.bytes += chunk.length;
    if (isBodiless(this.method, this.res.statusCode)) return true;
    const taken = this.res.write(chunk);
    if (!taken) this.res.socket?.setTimeout(this.responseStallMs);
    this.holdUnread();
    return taken;
  }

  onDrain(listener: () => void): void {
    this.drainListener = listener;
  }

  end(): void {
    if (!this.begun || this.endCalled || this.aborted) return;
    if (this.announced !== undefined && this.announced !== this.bytes) this.breakOff();
    else this.finish();
  }

  /** Ends the connection in the middle of a response, so that a client cannot take a part for the whole. */
  breakOff(): void {
    if (!this.complete) this.req.socket.destroy();
  }

  private finish(body?: Buffer): void {
    this.endCalled = true;
    // The rest of the request is read and discarded, so that the connection can be reused.
    this.req.resume();
    // The server sets its own time limit for the next request once the response is sent.
    this.res.socket?.setTimeout(this.responseStallMs);
    this.res.end(body);
    this.holdUnread();
  }

  private holdUnread(): void {
    const bytes = this.res.socket?.writableLength ?? 0;
    if (bytes > 0) this.unread.hold(this, bytes);
  }

  private wantsBody(): boolean {
    return !this.endCalled && !this.aborted;
  }

  private drained(): void {
    this.res.socket?.setTimeout(0);
    this.unread.release(this);
    this.drainListener?.();
  }

  private connectionOrResponseEnded(): void {
    this.unread.release(this);
    if (this.complete || this.aborted) return;
    this.aborted = true;
    for (const listener of this.abortListeners) listener();
  }
}

/** Header values are UTF-8 in our texts; Node writes one byte per character. */
function asLatin1(value: string): string {
  return BEYOND_ASCII.test(value) ? Buffer.from(value).toString('latin1') : value;
}

const BEYOND_ASCII = /[^\x20-\x7e\t]/;
