/** A response that came whole. */
export interface HttpResponse {
  status: number;
  /** Undefined where it is missing. */
  header(name: string): string | null;
  bytes: Uint8Array;
  /** The same, made when it is asked for. */
  readonly text: string;
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
const DECODER = new TextDecoder();
const NOTHING = new Uint8Array(0);

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
    const bytes = await readBytes(response, ending);
    return {
      status: response.status,
      header: (name) => response.headers.get(name),
      bytes,
      get text() {
        return DECODER.decode(bytes);
      },
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

async function readBytes(response: Response, ending: AbortController): Promise<Uint8Array> {
  if (!response.body) return NOTHING;
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return concatenated(chunks, bytes);
    chunks.push(value);
    bytes += value.length;
    if (bytes > RESPONSE_BYTES_MAX) {
      const tooLong = new Error(`a response of more than ${RESPONSE_BYTES_MAX} bytes`);
      ending.abort(tooLong);
      throw tooLong;
    }
  }
}

function concatenated(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  if (chunks.length <= 1) return chunks[0] ?? NOTHING;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
