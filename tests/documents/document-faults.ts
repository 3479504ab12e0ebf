import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { readArguments } from '../../app/admin/read-arguments.ts';
import { API_BASE } from '../../schemas/route.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { ON_WISH, PROMISES } from '../faults/promises.ts';
import { codeBlocks, type MarkdownFile, proseOf } from './read-documents.ts';

/** Links to files that are not there, and to headings that their page does not have. */
export function deadLinks(documents: readonly MarkdownFile[]): string[] {
  const texts = new Map(documents.map((one) => [one.path, one.text]));
  return inEach(documents, (document) => {
    const targets = [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const own = targets.filter((target) => !/^(https?|mailto):/.test(target));
    return own.filter((target) => !isThere(document.path, target, texts));
  });
}

function isThere(from: string, target: string, texts: ReadonlyMap<string, string>): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? from : normalize(join(dirname(from), path));
  if (!existsSync(file)) return false;
  return anchor === undefined || headingAnchors(texts.get(file) ?? '').includes(anchor);
}

function headingAnchors(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
    return heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
  });
}

const ROOMS = 'schemas|infra|domain|ingest|aggregator|control-plane|delivery|app|tests|bench|tools|docs';
const PATH = new RegExp(`\`((?:${ROOMS})/[\\w./-]*)\``, 'g');
const FILE = /`([\w-]+(?:\.[\w-]+)*\.(?:ts|mjs|sql|lua))`/g;

/** Paths between backticks that begin with a room, and bare names of files, that are not in the tree. */
export function deadPaths(documents: readonly MarkdownFile[], tree: readonly string[]): string[] {
  const names = new Set(tree.map((path) => path.split('/').at(-1)));
  return inEach(documents, (document) => {
    const prose = proseOf(document);
    const paths = [...prose.matchAll(PATH)].map(([, path = '']) => path).filter((path) => !existsSync(path));
    const files = [...prose.matchAll(FILE)].map(([, name = '']) => name);
    return [...paths, ...files.filter((name) => !names.has(name))];
  });
}

/** `npm run` of a script that package.json does not have. */
export function deadScripts(documents: readonly MarkdownFile[], scripts: readonly string[]): string[] {
  return inEach(documents, ({ text }) => {
    const used = text.matchAll(/\bnpm\s+run\s+(?:(?:--silent|-s)\s+)?([a-z][\w:-]*)/g);
    return [...used].map(([, name = '']) => name).filter((name) => !scripts.includes(name));
  });
}

/** Operations between backticks, `GET /path`, that the route table does not have. */
export function deadOperations(documents: readonly MarkdownFile[]): string[] {
  const routes = Object.values(ROUTES).map(({ method, path }) => ({ method, segments: path.split('/') }));
  const isRoute = (method: string, path: string) => {
    const segments = path.split('/');
    return routes.some((route) => {
      const isSame = route.segments.every((one, at) => one.startsWith('{') || one === segments[at]);
      return route.method === method && route.segments.length === segments.length && isSame;
    });
  };
  return inEach(documents, (document) => {
    const used = [...proseOf(document).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^\s`?]*)/g)];
    const dead = used.filter(([, method = '', path = '']) => {
      return ![path, `${API_BASE}${path}`].some((one) => isRoute(method, one));
    });
    return dead.map(([text]) => `${text}\``);
  });
}

/** Command lines of `npm run admin` in blocks of shell, that it would not take. */
export function badAdminLines(documents: readonly MarkdownFile[]): string[] {
  return inEach(documents, (document) => {
    const shell = codeBlocks(document).filter(({ language }) => language === 'sh');
    const lines = shell.flatMap(({ code }) => [...code.matchAll(/ admin (?:-- )?((?:workspace|key) .*)$/gm)]);
    return lines.flatMap(([, line = '']) => {
      const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
      try {
        readArguments(args, Date.now());
        return [];
      } catch (error) {
        return [`${line}: ${String(error)}`];
      }
    });
  });
}

/** `--only` of a promise, a run or a mutant that `npm run torture` does not have. */
export function deadRuns(documents: readonly MarkdownFile[]): string[] {
  const all = [...PROMISES, ...ON_WISH];
  const known = new Set(all.flatMap(({ name, promises }) => [name, ...promises.map(String)]));
  return inEach(documents, ({ text }) => {
    const used = [...text.matchAll(/--only\s+([\w-]+)/g)].map(([, one = '']) => one);
    return used.filter((one) => one !== 'N' && !known.has(one));
  });
}

/** The faults of all documents, each with the path of its own. */
function inEach(
  documents: readonly MarkdownFile[],
  faultsOf: (document: MarkdownFile) => string[],
): string[] {
  return documents.flatMap((document) => faultsOf(document).map((fault) => `${document.path}: ${fault}`));
}
