/**
 * The public door. One handler sees every request, with its body unread; the front owns the sockets.
 *
 * The front itself sees to: header blocks over `headerBytesMax` (431 `headers_too_large`), headers and bodies
 * that arrive too slowly (closed), `X-API-Version` and `X-Request-Id` on every response, and that a response
 * is never touched after the client went away.
 */
export interface HttpFront {
  /** Resolves with the port in use once connections are accepted. */
  listen(host: string, port: number): Promise<number>;

  /** Stops accepting, lets requests in flight end for at most `graceMs`, then closes what is left. */
  close(graceMs: number): Promise<void>;
}

export type RequestHandler = (exchange: Exchange) => void;

export interface Exchange {
  /** Upper case. */
  readonly method: string;
  /** Without the query; as sent, not decoded. */
  readonly path: string;
  /** Without the question mark; '' when there is none. */
  readonly query: string;
  /** The caller's X-Request-Id where it is acceptable, else a new one. */
  readonly requestId: string;
  /** Names in lower case, values as UTF-8 text; a repeated header's values are joined by ', '. */
  readonly headers: ReadonlyMap<string, string>;
  /** True once the client is gone; nothing that is sent then arrives. */
  readonly aborted: boolean;
  /** Called once when the client goes away before the answer was complete; at once if it has. */
  onAborted(listener: () => void): void;

  /**
   * Takes the body, once, in the handler's own turn or later (until then it is held back). What `onChunk`
   * gets is the front's again when it returns: what is kept of it is copied. `onEnd` comes after the last
   * one. After an abort neither is called again.
   */
  readBody(onChunk: (chunk: Buffer) => void, onEnd: () => void): void;
  /** Holds back the client while the reader cannot take more. */
  pauseBody(): void;
  resumeBody(): void;

  /**
   * A whole answer. Once; further calls are ignored. `headers` without the ones the front adds. `onTaken` is
   * called at most once, when nobody reads `body` any more, so that its memory may be used again: perhaps
   * never, where the client goes away, asked for the head alone, or was answered before its body had come.
   */
  respond(status: number, headers: Record<string, string>, body: Buffer, onTaken?: () => void): void;

  /** An answer in pieces. Header values may repeat (`set-cookie`), so pairs. */
  begin(status: number, headers: Array<[string, string]>): void;
  /** False: wait for `onDrain` before the next piece. */
  write(chunk: Buffer): boolean;
  /** One listener, the last one. */
  onDrain(listener: () => void): void;
  /** Short of an announced content-length it breaks the connection off. */
  end(): void;
  /** Ends the connection in the middle of an answer, so that nobody takes a part for the whole. */
  breakOff(): void;
}
