/** The script's own address tells which server it belongs to, also below a path of a proxy. */
const SCRIPT = document.currentScript;
const OWN_SERVER =
  SCRIPT instanceof HTMLScriptElement ? SCRIPT.src.replace(/\/widget\/[^/]*$/, '') : location.origin;

export interface ReadOptions {
  /** A customer token. */
  token?: string | undefined;
  signal: AbortSignal;
}

/** A response other than success; `code` is that of the API's error, or ''. */
export class RequestFailed extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The address of a path below `/api/v1`. `api` replaces the server that the script came from. */
export function apiUrl(api: string | null, path: string): string {
  return `${(api ?? OWN_SERVER).replace(/\/$/, '')}/api/v1${path}`;
}

/** Sends no cookies. Without a token the request needs no preflight. Throws RequestFailed. */
export async function readJson<T>(url: string, { token, signal }: ReadOptions): Promise<T> {
  const response = await fetch(url, {
    credentials: 'omit',
    signal,
    ...(token ? { headers: { Authorization: `Bearer ${token}` } } : {}),
  });
  if (response.ok) return (await response.json()) as T;
  const { error } = (await response.json().catch(() => ({}))) as {
    error?: { code: string; message: string };
  };
  throw new RequestFailed(response.status, error?.code ?? '', error?.message ?? `HTTP ${response.status}`);
}
