import { readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** The compiled program is one folder deeper than the sources. */
const PACKAGE = extname(import.meta.url) === '.ts' ? '../../package.json' : '../../../package.json';

/** The release that this process runs, such as `1.4.0`. */
export const PRODUCT_VERSION: string = JSON.parse(
  readFileSync(new URL(PACKAGE, import.meta.url), 'utf8'),
).version;
