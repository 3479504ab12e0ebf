/**
 * Why an attempt to deliver an event failed, where that is not the status of an answer. The list is closed.
 */
export const ATTEMPT_ERRORS = [
  /** The url of the endpoint is none that is sent to: other scheme, or credentials. */
  'url_not_allowed',
  /** The address, or one of those that the name has, is not public. */
  'address_not_public',
  'name_not_resolved',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  /** The attempt as a whole took too long. */
  'timeout',
  /** The connection ended before the answer did. */
  'connection_lost',
  /** What was answered is no HTTP, or too much of it before its body. */
  'response_invalid',
  'response_too_large',
  /** Anything of 2xx is success; nothing else is, and a redirect is never followed. */
  'status_not_2xx',
  /** A mistake of ours: the log says which. */
  'internal',
] as const;

export type AttemptError = (typeof ATTEMPT_ERRORS)[number];
