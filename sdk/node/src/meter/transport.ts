/** A response that came whole. */
export interface HttpResponse {
  status: number;
  /** Undefined where it is missing. */
  header(name: string): string | null;
  text: string;
}

export interface HttpRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | string | undefined;
  timeoutMs: number;
  /** Ends what is under way. */
  signal: AbortSignal | undefined;
}

/** Of a response to 500 events there are some 100 KB; a page without an end must not fill the memory. */
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;

/** Rejects when no whole response came in time. A redirect is not followed: it is the response. */
export async function request(requested: HttpRequest): Promise<HttpResponse> {
  const { url, method, headers, body, timeoutMs, signal } = requested;
  const ending = new AbortController();
  const end = (): void => ending.abort(signal?.reason);
  const timer = setTimeout(() => ending.abort(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
  signal?.addEventListener('abort', end);
  try {
    signal?.throwIfAborted();
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: ending.signal,
    });
    const text = await readText(response, ending);
    return { status: response.status, header: (name) => response.headers.get(name), text };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

async function readText(response: Response, ending: AbortController): Promise<string> {
  if (!response.body) return '';
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = '';
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > RESPONSE_BYTES_MAX) {
      const tooLong = new Error(`a response of more than ${RESPONSE_BYTES_MAX} bytes`);
      ending.abort(tooLong);
      throw tooLong;
    }
    text += decoder.decode(value, { stream: true });
  }
}
