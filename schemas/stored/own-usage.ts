/**
 * The request by which the control side has the data plane write usage events of the installation itself:
 * between its two processes on the loopback address, and no part of the API. The response is that of a batch
 * with `include=events`.
 */
export const OWN_USAGE_PATH = '/internal/usage';

/** `{ environment, change?, events }`; an event is one of the batch operation. */
export const OWN_USAGE_BYTES_MAX = 1024 * 1024;

/** How a process shows that it is of the installation: both derive the token from the server's secret. */
export function internalAuthorization(token: Buffer): string {
  return `Internal ${token.toString('base64url')}`;
}
