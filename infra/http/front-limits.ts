/** What one client may use of the public server. */
export interface FrontLimits {
  /** Request line and headers together. Beyond: 431 `headers_too_large`. */
  headerBytesMax: number;
  /** From the connection, or from the last response on it, to the end of a header block. Beyond: closed. */
  headersTimeoutMs: number;
  /** From a request's header block to the last byte of its body. Beyond: closed. */
  bodyTimeoutMs: number;
  /** How long a client may take no bytes of a response that waits for it. Beyond: closed. */
  responseStallMs: number;
  /**
   * Of responses that wait for their clients, together. Beyond: the client that has waited longest is closed.
   */
  unreadBytesMax: number;
  /** Open connections; the next one is closed at once. */
  connectionsMax: number;
}

/**
 * uWebSockets.js has its own clock for `headersTimeoutMs`, which cannot be set: 10 s in steps of 4 s,
 * measured 12 s. So this is its figure too. It also closes bodies below 16 KB/s.
 */
export const FRONT_LIMITS: FrontLimits = {
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  responseStallMs: 10_000,
  unreadBytesMax: 64 * 1024 * 1024,
  connectionsMax: 10_000,
};
