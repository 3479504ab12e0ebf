import type { AttemptError } from '../../../schemas/stored/webhook-attempt.ts';

interface Explained {
  short: string;
  /** What may be the cause. */
  cause?: string;
}

/** Why an attempt failed, for people. */
const ERRORS: Record<Exclude<AttemptError, 'status_not_2xx'>, Explained> = {
  url_not_allowed: { short: 'URL not allowed', cause: 'WEBHOOK_ALLOW_PRIVATE decides what else is' },
  address_not_public: { short: 'Address not public', cause: 'WEBHOOK_ALLOW_PRIVATE decides what else is' },
  name_not_resolved: { short: 'Host name not resolved', cause: 'the name is misspelled, or its DNS is down' },
  connect_failed: { short: 'No connection', cause: 'no server listens there, or it cannot be reached' },
  connect_timeout: { short: 'No connection within 5 s', cause: 'a firewall may drop the packets' },
  tls_failed: {
    short: 'TLS failed',
    cause: 'the certificate has another name, or is expired or not trusted',
  },
  timeout: { short: 'No response within 15 s', cause: 'receivers respond before any long work' },
  connection_lost: { short: 'Connection lost', cause: 'it ended before the whole response' },
  response_invalid: { short: 'Response is not HTTP' },
  response_too_large: { short: 'Response of more than 64 KiB' },
  internal: { short: 'Error in Metergate', cause: 'its log names it' },
};

interface Ended {
  status?: number | undefined;
  error?: AttemptError | undefined;
}

/** How an attempt ended: `HTTP 503`, or why there was no response. */
export function outcomeText({ status, error }: Ended): string {
  const why = error === undefined || error === 'status_not_2xx' ? '' : ERRORS[error].short;
  return [status === undefined ? '' : `HTTP ${status}`, why].filter(Boolean).join(', ') || 'No response';
}

/** The same, with what may be the cause. */
export function outcomeWithCause(ended: Ended): string {
  const { error } = ended;
  const cause = error === undefined || error === 'status_not_2xx' ? undefined : ERRORS[error].cause;
  return cause === undefined ? outcomeText(ended) : `${outcomeText(ended)}: ${cause}`;
}
