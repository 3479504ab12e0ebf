import type { AttemptError } from '../../../schemas/stored/webhook-attempt.ts';

/** Why an attempt failed, for people. With a status the response itself was the reason. */
const ERRORS: Record<Exclude<AttemptError, 'status_not_2xx'>, string> = {
  url_not_allowed: 'the URL is not allowed here',
  address_not_public: 'the name leads to an address that is not public',
  name_not_resolved: 'the host name does not resolve',
  connect_failed: 'the connection was refused: no server listens there, or it is unreachable',
  connect_timeout: 'no connection within 5 s',
  tls_failed: 'the TLS certificate was not accepted: another name, expired, or an unknown authority',
  timeout: 'no whole response within 15 s',
  connection_lost: 'the connection ended before the response',
  response_invalid: 'the response is not HTTP',
  response_too_large: 'the response is larger than 64 KiB',
  internal: 'an error in Metergate, which its log names',
};

interface Ended {
  status: number | undefined;
  error: AttemptError | undefined;
}

/** How an attempt ended: `HTTP 503`, or why there was no response. */
export function outcomeText({ status, error }: Ended): string {
  const why = error === undefined || error === 'status_not_2xx' ? '' : ERRORS[error];
  const text = [status === undefined ? '' : `HTTP ${status}`, why].filter(Boolean).join(': ');
  return text === '' ? 'No response' : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
