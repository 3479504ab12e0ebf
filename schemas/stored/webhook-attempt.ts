/**
 * Why an attempt to deliver an event failed, unless it got a response. The list is closed.
 */
export const ATTEMPT_ERRORS = [
  /** The url of the endpoint is not allowed: another scheme, or credentials. */
  'url_not_allowed',
  /** The address, or one that the host name resolves to, is not public. */
  'address_not_public',
  'name_not_resolved',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  /** The attempt as a whole took too long. */
  'timeout',
  /** The connection ended before the response did. */
  'connection_lost',
  /** The response is not HTTP, or its headers are too large. */
  'response_invalid',
  'response_too_large',
  /** Anything of 2xx is success; nothing else is, and a redirect is never followed. */
  'status_not_2xx',
  /** A bug of the server, which the log names. */
  'internal',
] as const;

export type AttemptError = (typeof ATTEMPT_ERRORS)[number];
