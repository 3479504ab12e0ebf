import { dirname, join } from 'node:path/posix';
import { commentBreaches } from './comment-references.ts';
import { type FunctionSpan, readSource, type SourceShape } from './source-shape.ts';
import { wordBreaches } from './words.ts';

/** One file of the tree: path from the root with forward slashes, and its text. */
export interface TreeFile {
  path: string;
  text: string;
}

/** Every breach of the house rules in these files, as `path:line: what`. Empty when the house is tidy. */
export function breaches(files: TreeFile[]): string[] {
  const sources = files.filter((file) => isSource(file.path));
  const shapes = new Map(sources.map((file) => [file.path, readSource(file.path, file.text)]));
  return [
    ...files.flatMap((file) => [
      ...nameBreaches(file.path),
      ...textBreaches(file),
      ...sizeBreaches(file),
      ...wordBreaches(file),
    ]),
    ...[...shapes].flatMap(([path, shape]) => [...shapeBreaches(path, shape), ...arrowBreaches(path, shape)]),
    ...commentBreaches(files),
    ...loneImporterBreaches(shapes),
    ...importCycles(shapes),
    ...crowdedRooms(files),
  ];
}

const LIMITS = { fileLines: 300, lineChars: 110, rowChars: 300, functionLines: 60, parameters: 4 };

const SERVICES = ['ingest', 'aggregator', 'control-plane', 'delivery'];
/** Each room imports itself and the rooms before it; the four services import none of the others. */
const LAYERS = [['schemas'], ['infra'], ['domain'], SERVICES, ['app'], ['tests', 'bench'], ['tools']];
/** What others install: of the product it knows what is generated into it, and nothing else. */
const CLIENT_ROOM = 'sdk';
/** What browsers run: of the product they know the contract alone. */
const BROWSER_ROOMS = ['console', 'widget'];
/** What a new reader has to choose from in the root of a room. */
const ROOT_FILES_MAX = 15;
/** Folders of infra/ that hold adapters: logic knows their ports only. */
const ADAPTER = /^infra\/(segment-log|key-table|clickhouse|http|kafka|valkey)\//;
/** What schemas/ may lean on: the contract is data and pure rules. */
const SCHEMA_PACKAGE = /^(node:|typebox(\/|$))/;

const BANNED_NAME = /^(utils?|helpers?|types?|common|index)(\.[a-z.]+)?$|(impl|manager)(\.[a-z.]+)?$/i;
const MACHINE_PATH = /(^|[\s"'`(=:])\/(work|tmp|root|home)\/\w/;
const REGISTRY_HOST = /registry\.(npmjs|yarnpkg)\.|\bhttps?:\/\/[\w.-]*(registry|artifactory|nexus)[\w.-]*/i;
const UNFINISHED = /\b(TODO|FIXME|XXX)\b/;
const MODULE_MOCK = /\b(vi|jest)\.(do)?mock\(/i;
/** infra/platform/parse-url.ts says why. */
const UNTRUE_CAN_PARSE = /\bURL\.canParse\(/;
/** tests/support/code-point.ts says why. */
const KEPT_CHARACTERS = /\bunit: 'binary'/;
const BARE_ERROR = /throw new Error\(/;
/** Written by `npm run schema`, `npm run graphql`, `npm run openapi`; pages of results by `npm run bench`. */
const LONG_LINES_ALLOWED =
  /\.(md|json|svg|html)$|^LICENSE$|postgres\/schema\.sql$|schema\.graphql$|\/src\/generated\//;
const NO_SIZE =
  /\.(md|json)$|^LICENSE$|postgres\/schema\.sql$|schema\.graphql$|^bench\/results\/.*\.html$|\/generated\//;
/** These rules have to name what they forbid. */
const NAMES_THE_RULES = /^(tools\/tidy\/(house-rules|tidy\.test)\.ts|CONTRIBUTING\.md)$/;

type Rule = [rule: RegExp, what: string];

/** Drivers throw bare errors when a connection is lost. */
function servesRequests(path: string): boolean {
  return path.startsWith('control-plane/') && !isTest(path);
}

function isSource(path: string): boolean {
  return /\.(tsx?|mjs)$/.test(path) && !/\/assembly\//.test(path);
}

/** Test files, what they share next to the code, and the suites of the ports. */
function isTest(path: string): boolean {
  return /(\.test|-under-test|-oracle)\.tsx?$/.test(path) || /^infra\/ports\/conformance\//.test(path);
}

function nameBreaches(path: string): string[] {
  const bad = path.split('/').filter((name) => BANNED_NAME.test(name));
  return bad.map((name) => `${path}:1: the name ${name} does not say what it holds`);
}

function sizeBreaches({ path, text }: TreeFile): string[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const found: string[] = [];
  if (!NO_SIZE.test(path) && lines.length > LIMITS.fileLines) {
    found.push(`${path}:1: ${lines.length} lines, at most ${LIMITS.fileLines}`);
  }
  if (path.endsWith('.md')) found.push(...wideRows(path, lines));
  if (LONG_LINES_ALLOWED.test(path)) return found;
  lines.forEach((line, at) => {
    if (line.length > LIMITS.lineChars) found.push(`${path}:${at + 1}: ${line.length} characters in a line`);
  });
  return found;
}

/** A table that wide cannot be read, neither as text nor as a page. */
function wideRows(path: string, lines: string[]): string[] {
  return lines.flatMap((line, at) => {
    const isWide = line.trimStart().startsWith('|') && line.length > LIMITS.rowChars;
    return isWide ? [`${path}:${at + 1}: ${line.length} characters in a table row`] : [];
  });
}

function textBreaches({ path, text }: TreeFile): string[] {
  if (NAMES_THE_RULES.test(path)) return [];
  const rules: Rule[] = [
    [MACHINE_PATH, 'names a path of some machine'],
    [REGISTRY_HOST, 'names a package registry'],
    [UNFINISHED, 'is marked unfinished'],
    [MODULE_MOCK, 'replaces a module in a test'],
    [UNTRUE_CAN_PARSE, 'calls URL.canParse, which rejects names with umlauts once it is compiled: parseUrl'],
    [KEPT_CHARACTERS, 'has a map of all characters kept: CODE_POINT of tests/support'],
    ...(servesRequests(path)
      ? [[BARE_ERROR, 'throws an error that looks like an unavailable store'] as Rule]
      : []),
  ];
  return text.split('\n').flatMap((line, at) => {
    return rules.filter(([rule]) => rule.test(line)).map(([, what]) => `${path}:${at + 1}: ${what}`);
  });
}

function shapeBreaches(path: string, shape: SourceShape): string[] {
  const found = shape.defaultExport && path !== 'vitest.config.ts' ? [`${path}:1: exports a default`] : [];
  for (const one of shape.functions) {
    // A suite is a list of tests: there a function counts without the functions inside it.
    const lines = isTest(path) ? one.ownLines : one.lines;
    if (lines > LIMITS.functionLines) found.push(overLimit(path, one, `${lines} lines`));
    if (one.parameters > LIMITS.parameters) found.push(overLimit(path, one, `${one.parameters} parameters`));
  }
  return found;
}

function overLimit(path: string, { line, name }: FunctionSpan, what: string): string {
  return `${path}:${line}: function ${name} has ${what}`;
}

function arrowBreaches(path: string, shape: SourceShape): string[] {
  return shape.imports.flatMap(({ specifier, line }) => {
    const fault = specifier.startsWith('.')
      ? arrowFault(path, join(dirname(path), specifier))
      : packageFault(path, specifier);
    return fault === undefined ? [] : [`${path}:${line}: ${fault}`];
  });
}

function arrowFault(from: string, to: string): string | undefined {
  const [room = '', target = ''] = [from, to].map((path) => path.split('/')[0] ?? '');
  if (!to.includes('/') || !from.includes('/')) return undefined;
  if (from.startsWith('infra/ports/') && !isTest(from) && !/^(schemas|infra\/ports)\//.test(to)) {
    return `a port imports ${to}`;
  }
  if (BROWSER_ROOMS.includes(room) && ![room, 'schemas'].includes(target) && !isTest(from)) {
    return `${room}/ imports ${to}`;
  }
  if (room === CLIENT_ROOM && target !== CLIENT_ROOM && !isTest(from)) return `${room}/ imports ${to}`;
  const [own = -1, other = -1] = [room, target].map((name) =>
    LAYERS.findIndex((layer) => layer.includes(name)),
  );
  // Tests import from every room, and anything imports what tests share.
  if (room === target || own < 0 || other < 0 || isTest(from)) return undefined;
  if (SERVICES.includes(room) && SERVICES.includes(target)) return `a service imports another: ${to}`;
  if (room === 'bench' && target === 'tests' && !to.startsWith('tests/support/')) {
    return `bench/ imports more of the tests than what they share: ${to}`;
  }
  if (own < other && !BUILDS_ITSELF.test(from)) return `${room}/ imports ${to}`;
  const namesAdapter = SERVICES.includes(room) && ADAPTER.test(to);
  return namesAdapter ? `an adapter is named outside app/ and tests: ${to}` : undefined;
}

/** `npm start` installs and builds before anything else is there. */
const BUILDS_ITSELF = /^app\/start\.mjs$/;

function packageFault(from: string, specifier: string): string | undefined {
  const outside = from.startsWith('schemas/') && !isTest(from) && !SCHEMA_PACKAGE.test(specifier);
  return outside ? `schemas/ imports the package ${specifier}` : undefined;
}

function crowdedRooms(files: TreeFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    const [room = '', name, ...deeper] = path.split('/');
    if (name === undefined || deeper.length > 0 || !isSource(path) || isTest(path)) continue;
    counts.set(room, (counts.get(room) ?? 0) + 1);
  }
  const crowded = [...counts].filter(([, count]) => count > ROOT_FILES_MAX);
  return crowded.map(([room, count]) => `${room}/: ${count} files in its root, at most ${ROOT_FILES_MAX}`);
}

/** kafkajs is unmaintained: what replaces it one day must be one file. */
function loneImporterBreaches(shapes: Map<string, SourceShape>): string[] {
  const importsIt = (shape: SourceShape) => shape.imports.some((one) => one.specifier === 'kafkajs');
  const importers = [...shapes].filter(([, shape]) => importsIt(shape));
  return importers.slice(1).map(([path]) => `${path}:1: a second file imports kafkajs`);
}

/** Import cycles, of types too: each is reported once, from its first file in the alphabet. */
function importCycles(shapes: Map<string, SourceShape>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, way: string[]): void => {
    const seenAt = way.indexOf(path);
    if (seenAt >= 0) {
      found.push(`${path}:1: imports itself through ${[...way.slice(seenAt), path].join(' → ')}`);
      return;
    }
    if (done.has(path)) return;
    for (const { specifier } of shapes.get(path)?.imports ?? []) {
      if (specifier.startsWith('.')) visit(join(dirname(path), specifier), [...way, path]);
    }
    done.add(path);
  };
  for (const path of [...shapes.keys()].sort()) visit(path, []);
  return found;
}
