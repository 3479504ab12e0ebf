import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The script of the widget as the build left it, also compressed. */
export interface WidgetScript {
  content: Buffer;
  encoded: { br: Buffer; gzip: Buffer };
}

/** Next to the compiled program; a program that runs from the sources uses what the last build left. */
const BUILT = new URL(
  extname(import.meta.url) === '.ts' ? '../../dist/widget/v1.js' : '../../widget/v1.js',
  import.meta.url,
);

/** Reads 35 KB. Undefined where the program was built without the widget. */
export function readWidgetScript(path = fileURLToPath(BUILT)): WidgetScript | undefined {
  try {
    const [content, br, gzip] = [path, `${path}.br`, `${path}.gz`].map((name) => readFileSync(name));
    return content && br && gzip && { content, encoded: { br, gzip } };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
