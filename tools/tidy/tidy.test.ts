import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { breaches, type TreeFile } from './house-rules.ts';

describe('the house', () => {
  it('is tidy', () => {
    expect(breaches(treeFiles())).toEqual([]);
  });
});

/** Each is otherwise tidy; the breach is named with its place. */
const BAD: Array<[what: string, file: TreeFile, breach: string]> = [
  ['a file over 300 lines', source('a.ts', 'let a;\n'.repeat(301)), 'a.ts:1: 301 lines'],
  ['a line over 110 characters', source('a.ts', `// ${'x'.repeat(108)}`), 'a.ts:1: 111 characters'],
  ['a function over 60 lines', source('a.ts', fn('', 60)), 'a.ts:1: function f has 62 lines'],
  ['five parameters', source('a.ts', fn('a, b, c, d, e', 1)), 'a.ts:1: function f has 5 parameters'],
  [
    'a table row over 300 characters',
    source('a.md', `| ${'x'.repeat(297)} |`),
    '301 characters in a table row',
  ],
  ['a file called utils', source('infra/utils.ts', ''), 'the name utils.ts does not say'],
  ['a folder called types', source('infra/types/a.ts', ''), 'the name types does not say'],
  ['a name ending in Impl', source('infra/log-impl.ts', ''), 'the name log-impl.ts does not say'],
  [
    'a service importing another',
    source('ingest/a.ts', imports('../delivery/b.ts')),
    'a service imports another',
  ],
  [
    'the same for a type',
    source('ingest/a.ts', 'export type { B } from "../delivery/b.ts";'),
    'imports another',
  ],
  ['the same in await import', source('ingest/a.ts', 'await import("../delivery/b.ts");'), 'imports another'],
  [
    'infra importing a service',
    source('infra/a.ts', imports('../ingest/b.ts')),
    'infra/ imports ingest/b.ts',
  ],
  [
    'schemas importing infra',
    source('schemas/a.ts', imports('../infra/b.ts')),
    'schemas/ imports infra/b.ts',
  ],
  ['schemas importing a package', source('schemas/a.ts', imports('pg')), 'schemas/ imports the package pg'],
  ['a port importing logic', source('infra/ports/a.ts', imports('../b.ts')), 'a port imports infra/b.ts'],
  ['logic naming an adapter', source('ingest/a.ts', imports('../infra/http/b.ts')), 'an adapter is named'],
  [
    'infra importing the domain',
    source('infra/a.ts', imports('../domain/b.ts')),
    'infra/ imports domain/b.ts',
  ],
  ['a service importing app', source('ingest/a.ts', imports('../app/b.ts')), 'ingest/ imports app/b.ts'],
  ['the product importing bench', source('app/a.ts', imports('../bench/b.ts')), 'app/ imports bench/b.ts'],
  [
    'bench importing a fault test',
    source('bench/a.ts', imports('../tests/faults/b.ts')),
    'more of the tests',
  ],
  [
    'a client importing the contract',
    source('sdk/node/src/a.ts', imports('../../../schemas/b.ts')),
    'sdk/ imports schemas/b.ts',
  ],
  ['a replaced module', source('a.test.ts', 'vi.mock("./b.ts");'), 'a.test.ts:1: replaces a module'],
  ['an untrue check of URLs', source('a.ts', 'URL.canParse(text);'), 'a.ts:1: calls URL.canParse'],
  [
    'a costly unit of texts',
    source('a.test.ts', "fc.string({ unit: 'binary' });"),
    'a.test.ts:1: has a map of all characters kept',
  ],
  ['a default export', source('a.ts', 'export default 1;'), 'a.ts:1: exports a default'],
  ['unfinished work', source('a.ts', '// TODO: more'), 'a.ts:1: is marked unfinished'],
  ['a path of a machine', source('a.md', 'see `/tmp/x`'), 'a.md:1: names a path of some machine'],
  ['a file that is gone in a comment', source('a.ts', '// See domain/b.ts.'), 'a.ts:1: names domain/b.ts'],
  ['a link to nothing', source('a.ts', '/** As {@link gone} does. */'), 'a.ts:1: links gone'],
  ['a package registry', source('a.md', 'https://registry.npmjs.org/x'), 'a.md:1: names a package registry'],
];

// Each rule is shown to bite: the file given is otherwise tidy, and the breach is named with its place.
describe('a house rule', () => {
  it.each(BAD)('rejects %s', (_, file, breach) => {
    const found = breaches([file]);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(breach);
  });

  it('rejects an import cycle, of types too', () => {
    const files = [
      source('infra/a.ts', 'import type { B } from "./b.ts";'),
      source('infra/b.ts', 'export * from "./a.ts";'),
    ];
    expect(breaches(files)).toEqual([
      'infra/a.ts:1: imports itself through infra/a.ts → infra/b.ts → infra/a.ts',
    ]);
  });

  it('rejects a second importer of kafkajs', () => {
    const files = [source('infra/a.ts', imports('kafkajs')), source('infra/b.ts', imports('kafkajs'))];
    expect(breaches(files)).toEqual(['infra/b.ts:1: a second file imports kafkajs']);
  });

  it('lets app/ and tests name adapters and services', () => {
    const files = [
      source('app/roles/ingest.ts', imports('../infra/http/b.ts')),
      source('ingest/a.test.ts', imports('../infra/http/b.ts')),
      source('app/control-side.ts', imports('../aggregator/b.ts')),
    ];
    expect(breaches(files)).toEqual([]);
  });

  it('rejects a room with more than fifteen files in its root', () => {
    const files = Array.from({ length: 16 }, (_, at) => source(`domain/${'a'.repeat(at + 1)}.ts`, ''));
    expect(breaches(files)).toEqual(['domain/: 16 files in its root, at most 15']);
    expect(breaches(files.slice(1))).toEqual([]);
  });

  it('counts a suite without the functions inside it', () => {
    const suite = `describe("a", () => {\n${`  it("b", () => {\n    c();\n  });\n`.repeat(30)}});\n`;
    expect(breaches([source('a.test.ts', suite)])).toEqual([]);
    expect(breaches([source('a.ts', suite)])).toHaveLength(1);
  });

  it('counts a function without the markers of mutants in it', () => {
    const marked = fn('', 58).replace('  g();', '  // mutant: a, b\n  g();');
    expect(breaches([source('infra/a.ts', marked)])).toEqual([]);
    expect(breaches([source('infra/a.ts', marked.replace('mutant:', 'about'))])).toHaveLength(1);
  });
});

/** What git tracks or would track. A path that git lists and that is missing is being moved: passed over. */
function treeFiles(): TreeFile[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  const paths = [...new Set(listed.split('\0'))].filter((path) => path !== '' && isFile(path));
  return paths.map((path) => ({ path, text: readFileSync(path, 'utf8') })).filter(isText);
}

function isText({ text }: TreeFile): boolean {
  return !text.includes('\0');
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function source(path: string, text: string): TreeFile {
  return { path, text };
}

function imports(specifier: string): string {
  return `import { b } from '${specifier}';\n`;
}

function fn(parameters: string, bodyLines: number): string {
  return `function f(${parameters}) {\n${'  g();\n'.repeat(bodyLines)}}\n`;
}
