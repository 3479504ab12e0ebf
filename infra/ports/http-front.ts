/**
 * The public HTTP server. One handler sees every request, with its body unread; the front owns the sockets.
 *
 * The front itself handles header blocks over `headerBytesMax` (431 `headers_too_large`), headers and bodies
 * that arrive too slowly (closed), `X-API-Version` and `X-Request-Id` on every response, and makes sure that
 * a response is never used after the client disconnected.
 */
export interface HttpFront {
  /** Resolves with the port in use once connections are accepted. */
  listen(host: string, port: number): Promise<number>;

  /** Stops accepting, lets requests in flight end for at most `graceMs`, then closes what is left. */
  close(graceMs: number): Promise<void>;
}

export type RequestHandler = (exchange: Exchange) => void;

/** Names in lower case, values as UTF-8 text; a repeated header's values are joined by ', '. */
export interface RequestHeaders extends Iterable<[string, string]> {
  get(name: string): string | undefined;
  has(name: string): boolean;
}

export interface Exchange {
  /** Upper case. */
  readonly method: string;
  /** Without the query; as sent, not decoded. */
  readonly path: string;
  /** Without the question mark; '' when there is none. */
  readonly query: string;
  /** The caller's X-Request-Id where it is acceptable, else a new one. */
  readonly requestId: string;
  readonly headers: RequestHeaders;
  /** True once the client has disconnected; nothing that is sent then arrives. */
  readonly aborted: boolean;
  /** Called once when the client disconnects before the response was complete; at once if it already has. */
  onAborted(listener: () => void): void;

  /**
   * Takes the body, once, in the handler's own turn or later (until then it is held back). What `onChunk`
   * gets is the front's again when it returns: what is kept of it is copied. `isLast` where the front knows
   * that this is the rest of the body. `onEnd` comes after the last chunk. After an abort neither is called
   * again.
   */
  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void, onEnd: () => void): void;
  /** Holds back the client while the reader cannot take more. */
  pauseBody(): void;
  resumeBody(): void;

  /**
   * A whole response. Once; further calls are ignored. `headers` without the ones the front adds. `onTaken`
   * is called at most once, when `body` is no longer read, so that its memory may be used again: perhaps
   * never, where the client disconnects, requested the head alone, or got the response before its body had
   * arrived.
   */
  respond(status: number, headers: Record<string, string>, body: Buffer, onTaken?: () => void): void;

  /** A response in pieces. Header values may repeat (`set-cookie`), so pairs. */
  begin(status: number, headers: Array<[string, string]>): void;
  /** False: wait for `onDrain` before the next piece. */
  write(chunk: Buffer): boolean;
  /** One listener, the last one. */
  onDrain(listener: () => void): void;
  /** Short of an announced content-length it closes the connection. */
  end(): void;
  /** Ends the connection in the middle of a response, so that a client cannot take a part for the whole. */
  breakOff(): void;
}
