/** One request to the API, at a path below /api/v1. Throws for every status but success. */
export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** With that key. */
export function createCall(origin: string, key: string): Call {
  return async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  };
}
