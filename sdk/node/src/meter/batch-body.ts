/** Smaller bodies are not worth it. */
const GZIP_BYTES_MIN = 1024;
/** A tenth of a body of events, as with the other levels, for a third less time than the usual one. */
const FASTEST = { level: 1 };

export interface BatchBody {
  body: Uint8Array<ArrayBuffer> | string;
  headers: Record<string, string>;
}

/** The body of a batch request, compressed where that is wished and the platform can. */
export async function batchBody(plain: BatchBody['body'], gzip: boolean): Promise<BatchBody> {
  const headers = { 'content-type': 'application/json' };
  const compressed = gzip && plain.length >= GZIP_BYTES_MIN ? await compress(plain) : undefined;
  if (!compressed) return { body: plain, headers };
  return { body: compressed, headers: { ...headers, 'content-encoding': 'gzip' } };
}

/** Requests to this machine: to compress them costs more than to send them. */
export function isLoopback(url: string): boolean {
  return /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/]|$)/i.test(url);
}

interface Zlib {
  gzip(
    plain: BatchBody['body'],
    options: typeof FASTEST,
    done: (error: Error | null, bytes: Uint8Array<ArrayBuffer>) => void,
  ): void;
}

/** Less CPU than a `CompressionStream`: a third. Not imported: workers have none. */
const zlib = (
  globalThis as { process?: { getBuiltinModule?(name: string): Zlib | undefined } }
).process?.getBuiltinModule?.('node:zlib');

async function compress(plain: BatchBody['body']): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (zlib) {
    return await new Promise((resolve, reject) => {
      zlib.gzip(plain, FASTEST, (error, bytes) => (error ? reject(error) : resolve(bytes)));
    });
  }
  if (typeof CompressionStream === 'undefined') return undefined;
  const stream = new Blob([plain]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
