import { ApiError } from './api-error.ts';

/**
 * How an operation is sent. What is neither in its path nor its body is a parameter of the query. Throws an
 * ApiError `invalid_request` for a path that cannot be one.
 */
export function requestOf(
  path: string,
  input: Record<string, unknown>,
): { path: string; body: string | undefined } {
  const { body, ...rest } = input;
  const used = new Set<string>();
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    used.add(name);
    const value = rest[name];
    if (typeof value !== 'string' || value === '') throw invalid(name);
    try {
      return encodeURIComponent(value);
    } catch {
      throw invalid(name); // half of a surrogate pair
    }
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    if (!used.has(name)) addParameter(query, name, value);
  }
  const text = query.toString();
  return {
    path: text === '' ? filled : `${filled}?${text}`,
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** An object is `name[key]=value` for each of its members. */
function addParameter(query: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'object') query.append(name, String(value));
  else for (const [key, one] of Object.entries(value)) query.append(`${name}[${key}]`, String(one));
}

function invalid(param: string): ApiError {
  return new ApiError(`\`${param}\` must be a text.`, { code: 'invalid_request', param });
}
