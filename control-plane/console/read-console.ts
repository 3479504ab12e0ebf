import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The console as the build left it: the page, and the files that it names. */
export interface Console {
  html: string;
  /** By the last part of their path; no other path is served. */
  assets: ReadonlyMap<string, ConsoleAsset>;
}

export interface ConsoleAsset {
  mediaType: string;
  content: Buffer;
  /** The same, compressed when it was built. */
  encoded: { br: Buffer; gzip: Buffer };
}

const PAGE = 'page.html';
const MEDIA_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Next to the compiled program; a program that runs from the sources uses what the last build left. */
const BUILT = fileURLToPath(
  new URL(extname(import.meta.url) === '.ts' ? '../../dist/console/' : '../../console/', import.meta.url),
);

/** Reads some 300 KB, all there is. Undefined where the program was built without the console. */
export function readConsole(folder = BUILT): Console | undefined {
  const names = namesIn(folder);
  if (!names.includes(PAGE)) return undefined;
  const read = (name: string) => readFileSync(join(folder, name));
  const assets = names.flatMap((name): Array<[string, ConsoleAsset]> => {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined) return [];
    const encoded = { br: read(`${name}.br`), gzip: read(`${name}.gz`) };
    return [[name, { mediaType, content: read(name), encoded }]];
  });
  return { html: read(PAGE).toString(), assets: new Map(assets) };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
