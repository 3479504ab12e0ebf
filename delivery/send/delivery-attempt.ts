import { type Dispatcher, errors } from 'undici';
import type { AttemptError } from '../../schemas/stored/webhook-attempt.ts';
import { AttemptFailed } from './attempt-failed.ts';
import { storableText } from './storable-text.ts';

export interface AttemptResult {
  /** Undefined when no response came. */
  response?: Response;
  /** It did not arrive complete. `connect_…` and `tls_failed` are from before any byte was sent. */
  failure?: AttemptError;
}

export interface Response {
  status: number;
  head: string;
  /** Its beginning. */
  body: string;
  retryAfter?: string | undefined;
}

export interface Post {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

const READ_BYTES_MAX = 65_536;
const KEPT_BYTES_MAX = 4_096;
const HEAD_CHARS_MAX = 4_096;

/** Interim responses (1xx) before the response; a receiver could send them forever. */
const INTERIM_MAX = 8;

/**
 * Sends one request and reads the response up to the bounds; it ends the connection of a longer response.
 * Always resolves, at the latest when the signal aborts; nothing is sent after that.
 */
export function sendAttempt(dispatcher: Dispatcher, post: Post, signal: AbortSignal): Promise<AttemptResult> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let response: Omit<Response, 'body'> | undefined;
    let interim = 0;
    let readBytes = 0;
    let keptBytes = 0;
    const kept: Buffer[] = [];

    const abort = () => {
      controller?.abort(new AttemptFailed('timeout'));
      settle('timeout');
    };
    signal.addEventListener('abort', abort, { once: true });

    function settle(failure?: AttemptError): void {
      signal.removeEventListener('abort', abort);
      resolve({
        ...(response ? { response: { ...response, body: storableText(Buffer.concat(kept)) } } : {}),
        ...(failure ? { failure } : {}),
      });
    }

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // It waited for a connection until now.
        if (signal.aborted) started.abort(new AttemptFailed('timeout'));
        else controller = started;
      },
      onResponseStart(started, status, headers, message = '') {
        interim += 1;
        if (status >= 200) response = responseOf(status, headers, message);
        else if (interim > INTERIM_MAX) started.abort(new AttemptFailed('response_invalid'));
      },
      onResponseData(started, chunk) {
        readBytes += chunk.length;
        if (keptBytes < KEPT_BYTES_MAX) {
          // A copy: the chunk is a view of the parser's memory.
          const part = Buffer.from(chunk.subarray(0, KEPT_BYTES_MAX - keptBytes));
          keptBytes += part.length;
          kept.push(part);
        }
        if (readBytes > READ_BYTES_MAX) started.abort(new AttemptFailed('response_too_large'));
      },
      onResponseEnd: () => settle(),
      onResponseError: (_, error) => settle(failureOf(error, controller !== undefined)),
    };
    dispatcher.dispatch({ method: 'POST', ...post }, handler);
  });
}

function responseOf(status: number, headers: Headers, message: string): Omit<Response, 'body'> {
  const lines = Object.entries(headers).flatMap(([name, value = '']) =>
    [value].flat().map((one) => `${name}: ${one}`),
  );
  const head = storableText(Buffer.from([`HTTP/1.1 ${status} ${message}`, ...lines].join('\n')));
  const retryAfter = [headers['retry-after']].flat()[0];
  return { status, head: head.slice(0, HEAD_CHARS_MAX), retryAfter };
}

type Headers = Record<string, string | string[] | undefined>;

/** Decided by codes of node, OpenSSL and undici; what has none is a connection that ended. */
function failureOf(error: Error & { code?: string }, isBegun: boolean): AttemptError {
  if (error instanceof AttemptFailed) return error.code;
  const { code = '' } = error;
  if (error instanceof errors.HTTPParserError || BAD_RESPONSE.test(code)) return 'response_invalid';
  if (isBegun) return 'connection_lost';
  if (TIMED_OUT.has(code)) return 'connect_timeout';
  return BAD_TLS.test(code) ? 'tls_failed' : 'connect_failed';
}

const BAD_RESPONSE = /^UND_ERR_(HEADERS_OVERFLOW$|RES_)/;
const TIMED_OUT: ReadonlySet<string> = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
const BAD_TLS = /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|HOSTNAME_)|SELF_SIGNED|_CA$/;
