/** Smaller bodies are not worth it. */
const GZIP_BYTES_MIN = 1024;

export interface BatchBody {
  body: Uint8Array<ArrayBuffer> | string;
  headers: Record<string, string>;
}

/** The body of a batch request, compressed where that is wished and the platform can. */
export async function batchBody(payloads: readonly string[], gzip: boolean): Promise<BatchBody> {
  const body = `{"events":[${payloads.join(',')}]}`;
  const headers = { 'content-type': 'application/json' };
  if (!gzip || body.length < GZIP_BYTES_MIN || typeof CompressionStream === 'undefined') {
    return { body, headers };
  }
  const compressed = new Blob([body]).stream().pipeThrough(new CompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(compressed).arrayBuffer());
  return { body: bytes, headers: { ...headers, 'content-encoding': 'gzip' } };
}
