import { basename, dirname, join } from 'node:path/posix';

const COMMENT_LINE = /^\s*(\/\/|\*|\/\*)/;
const LINK = /\{@link ([\w$]+)/g;
/** A file of the tree, from the root or from the folder of the file that names it. */
const NAMED_FILE = /(?<![\w/.…-])((?:[\w-]+\/)*[a-z][\w-]*\.(?:tsx?|mjs|md))\b/g;

interface CommentedFile {
  path: string;
  text: string;
}

/** Comments that name a file or an identifier that is gone, as `path:line: what`. */
export function commentBreaches(files: readonly CommentedFile[]): string[] {
  const paths = new Set(files.map(({ path }) => path));
  const names = new Set([...paths].map((path) => basename(path)));
  const isThere = (path: string, named: string) =>
    paths.has(named) || paths.has(join(dirname(path), named)) || (!named.includes('/') && names.has(named));
  return files
    .filter(({ path }) => /\.(tsx?|mjs)$/.test(path) && !path.startsWith('tools/tidy/'))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, at) => {
        if (!COMMENT_LINE.test(line)) return [];
        const files = [...line.matchAll(NAMED_FILE)].map(([, named = '']) => named);
        const links = [...line.matchAll(LINK)].map(([, name = '']) => name);
        return [
          ...files
            .filter((named) => !isThere(path, named))
            .map((named) => `names ${named}, which is no file`),
          ...links.filter((name) => !isUsed(text, name)).map((name) => `links ${name}, which is not in it`),
        ].map((what) => `${path}:${at + 1}: ${what}`);
      }),
    );
}

/** Elsewhere than in links. */
function isUsed(text: string, name: string): boolean {
  const word = name.replaceAll('$', String.raw`\$`);
  const uses = text.match(new RegExp(String.raw`(?<!@link )\b${word}\b`, 'g'));
  return uses !== null;
}
