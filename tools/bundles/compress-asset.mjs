import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Once, for all requests: next to a file of a page its forms with gzip and Brotli. */
export function compressAsset(path) {
  const content = readFileSync(path);
  writeFileSync(`${path}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
  writeFileSync(`${path}.br`, brotliCompressSync(content));
}
