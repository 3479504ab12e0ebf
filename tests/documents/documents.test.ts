import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { VARIABLES } from '../../app/config/config.ts';
import { ERROR_STATUS } from '../../schemas/error-codes.ts';
import {
  badAdminLines,
  deadLinks,
  deadOperations,
  deadPaths,
  deadRuns,
  deadScripts,
} from './document-faults.ts';
import { type CodeBlock, codeBlocks, type MarkdownFile, readDocuments, treePaths } from './read-documents.ts';

/** History: what it names was so then. */
const HISTORY = 'CHANGELOG.md';

const tree = treePaths();
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
const documents = readDocuments(tree).filter(({ path }) => path !== HISTORY);

describe('the documents', () => {
  it.each([
    ['link to files and headings that are there', deadLinks(documents)],
    ['name files and folders that are there', deadPaths(documents, tree)],
    ['name commands that package.json has', deadScripts(documents, Object.keys(scripts))],
    ['have command lines that `npm run admin` takes', badAdminLines(documents)],
    ['name runs that `npm run torture` has', deadRuns(documents)],
    ['name operations that the API has', deadOperations(documents)],
  ])('%s', (_, faults) => {
    expect(faults).toEqual([]);
  });

  it('are met from the README: no page is linked from nowhere', () => {
    const pages = documents.map(({ path }) => path).filter((path) => path.startsWith('docs/'));
    const linked = documents.flatMap(({ text }) =>
      [...text.matchAll(/([\w-]+\.md)[)#]/g)].map(([, one]) => one),
    );
    expect(pages.filter((path) => !linked.includes(path.split('/').at(-1)))).toEqual([]);
  });

  it('begin with a README of at most 120 lines', () => {
    expect(readFileSync('README.md', 'utf8').split('\n').length).toBeLessThanOrEqual(121);
  });
});

/** By language: throws where the code is none of it. */
const PARSERS: Record<string, (code: string) => void> = {
  sh: (code) => void execFileSync('bash', ['-n'], { input: code, stdio: ['pipe', 'ignore', 'pipe'] }),
  js: (code) => {
    const [fault] = parseSync('sample.mjs', code).errors;
    if (fault) throw new Error(fault.message);
  },
  python: (code) => {
    const stdio = ['pipe', 'ignore', 'pipe'] as const;
    execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      input: code,
      stdio: [...stdio],
    });
  },
  json: (code) => void JSON.parse(code),
  yaml: (code) => void parse(code),
};

describe('a block of code', () => {
  const blocks = documents.flatMap(codeBlocks).filter(({ language }) => language in PARSERS);

  it.each(blocks.map((one) => [`${one.path}:${one.line}`, one] as const))(
    '%s is what it says it is',
    (_, one) => {
      expect(() => PARSERS[one.language]?.(one.code)).not.toThrow();
    },
  );

  it('is found with its language, its line, and whether it is executed', () => {
    const text = 'a\n```sh run\nnpm start\n```\n```js\nb;\n```\n';
    expect(codeBlocks({ path: 'a.md', text })).toEqual<CodeBlock[]>([
      { path: 'a.md', line: 3, language: 'sh', isRun: true, code: 'npm start\n' },
      { path: 'a.md', line: 6, language: 'js', isRun: false, code: 'b;\n' },
    ]);
  });
});

describe('a page that mirrors the code', () => {
  it('docs/operate/configuration.md has a row for each variable, and no other', () => {
    const rows = [...pageText('docs/operate/configuration.md').matchAll(/^\| `([A-Z_]+)` \|/gm)];
    expect(rows.map(([, name]) => name).sort()).toEqual([...VARIABLES].sort());
  });

  it('docs/use/errors.md has a row with the status of each error code, and no other', () => {
    const rows = [...pageText('docs/use/errors.md').matchAll(/^\| `([a-z_]+)` \| (\d+) \| .+ \| .+ \|$/gm)];
    expect(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]))).toEqual(ERROR_STATUS);
    expect(rows).toHaveLength(Object.keys(ERROR_STATUS).length);
  });
});

describe('a fault in a document', () => {
  const bad = (text: string): MarkdownFile[] => [{ path: 'README.md', text }];

  it.each([
    ['a link to a file that is gone', deadLinks(bad('[a](docs/gone.md)'))],
    ['a link to a heading that is gone', deadLinks(bad('# Here\n[a](#here) [b](#there)'))],
    ['a path that is gone', deadPaths(bad('`ingest/gone.ts` and `ingest/`'), [])],
    ['a test that is gone', deadPaths(bad('`gone.sys.test.ts`, `a.test.ts`'), ['x/a.test.ts'])],
    ['a command that is gone', deadScripts(bad('npm run gone, npm run\nstart'), ['start'])],
    [
      'a command line that is none',
      badAdminLines(bad('```sh\nnpm run admin -- key create --mode live\n```\n')),
    ],
    ['a run that is gone', deadRuns(bad('`--only 1`, `--only gone`'))],
    ['an operation that is gone', deadOperations(bad('`GET /gone` and `GET /customers?q=a`'))],
  ])('is reported: %s', (_, faults) => {
    expect(faults).toHaveLength(1);
  });
});

function pageText(path: string): string {
  return readFileSync(path, 'utf8');
}
