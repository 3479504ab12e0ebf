import { ERROR_STATUS, type ErrorCode } from '../../../schemas/error-codes.ts';

/** A response as it came. */
export interface RawResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Our own words never have these: traces, places in our code, values that were not meant to be printed. */
const INSIDE = [
  /\n\s+at /,
  /node:internal/,
  /\.[jt]s:\d/,
  /\/dist\//,
  /node_modules/,
  /\[object Object\]/,
  /Error:/,
];

/** What is wrong with any response, whatever the request: undefined when nothing is. */
export function frameFault({ status, headers, text }: RawResponse): string | undefined {
  if (status >= 500) return `returns ${status}`;
  if (headers['x-api-version'] !== 'v1') return 'carries no X-API-Version';
  if (headers['content-type'] !== 'application/json') return `is ${headers['content-type']}`;
  if (!isJson(text)) return 'is no JSON';
  const inside = INSIDE.find((pattern) => pattern.test(text));
  return inside && `shows something of the inside: ${inside}`;
}

/** The code of a rejection; an Error that says what is wrong with its form. */
export function codeOf({ status, headers, text }: RawResponse): string | Error {
  const { error } = JSON.parse(text) as { error?: Record<string, unknown> };
  const { code, message, requestId } = error ?? {};
  if (typeof code !== 'string' || !Object.hasOwn(ERROR_STATUS, code))
    return new Error(`has the code ${code}`);
  if (ERROR_STATUS[code as ErrorCode] !== status) return new Error(`returns ${code} as ${status}`);
  if (typeof message !== 'string' || message.length < 5) return new Error('has no message');
  return requestId === headers['x-request-id'] ? code : new Error('has another request id in its header');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
