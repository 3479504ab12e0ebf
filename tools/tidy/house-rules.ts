import { dirname, join } from 'node:path/posix';
import { type FunctionSpan, readSource, type SourceShape } from './source-shape.ts';

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
    ...files.flatMap((file) => [...nameBreaches(file.path), ...textBreaches(file), ...sizeBreaches(file)]),
    ...[...shapes].flatMap(([path, shape]) => [...shapeBreaches(path, shape), ...arrowBreaches(path, shape)]),
    ...loneImporterBreaches(shapes),
    ...importCycles(shapes),
  ];
}

const LIMITS = { fileLines: 300, lineChars: 110, functionLines: 60, parameters: 4 };

/** Rooms in the order of the arrows: a room imports itself and what stands before it, never a later one. */
const SERVICES = ['ingest', 'aggregator', 'control-plane', 'delivery'];
const COMPOSITION = /^(infra\/(all-in-one|control-side)\.ts|[^/]+\/main(-[a-z]+)?\.ts)$/;
/** Folders of infra/ that hold adapters: logic knows their ports only. */
const ADAPTER = /^infra\/(segment-log|key-table|clickhouse|http|kafka|valkey)\//;
/** Tests of whole processes use its instance and ledger; vitest runs tests with its breaks. */
const MAY_USE_BENCH = /\.sys\.test\.ts$|^vitest\.config\.ts$/;
/** What schemas/ may lean on: the contract is data and pure rules. */
const SCHEMA_PACKAGE = /^(node:|typebox(\/|$))/;

const BANNED_NAME = /^(utils?|helpers?|types?|common|index)(\.[a-z.]+)?$|(impl|manager)(\.[a-z.]+)?$/i;
const MACHINE_PATH = /(^|[\s"'`(=:])\/(work|tmp|root|home)\/\w/;
const REGISTRY_HOST = /registry\.(npmjs|yarnpkg)\.|\bhttps?:\/\/[\w.-]*(registry|artifactory|nexus)[\w.-]*/i;
const UNFINISHED = /\b(TODO|FIXME|XXX)\b/;
const MODULE_MOCK = /\b(vi|jest)\.(do)?mock\(/i;
const BARE_ERROR = /throw new Error\(/;
const LONG_LINES_ALLOWED = /\.(md|json|svg|html)$|^LICENSE$/;
const NO_SIZE = /(\.(md|json)$)|^LICENSE$/;
/** These rules have to name what they forbid. */
const TELLS_THE_RULES = /^(infra\/tidy\/house-rules\.ts|tidy\.test\.ts|CONTRIBUTING\.md)$/;

type Rule = [rule: RegExp, what: string];

/** Drivers throw bare errors when a connection is lost. */
function answersRequests(path: string): boolean {
  return path.startsWith('control-plane/') && !isTest(path);
}

function isSource(path: string): boolean {
  return /\.(ts|mjs)$/.test(path) && !/^ingest\/engine\/assembly\//.test(path);
}

function isTest(path: string): boolean {
  return /(\.test|-under-test|-oracle)\.ts$/.test(path) || /^infra\/conformance\//.test(path);
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
  if (LONG_LINES_ALLOWED.test(path)) return found;
  lines.forEach((line, at) => {
    if (line.length > LIMITS.lineChars) found.push(`${path}:${at + 1}: ${line.length} characters in a line`);
  });
  return found;
}

function textBreaches({ path, text }: TreeFile): string[] {
  if (TELLS_THE_RULES.test(path)) return [];
  const rules: Rule[] = [
    [MACHINE_PATH, 'names a path of some machine'],
    [REGISTRY_HOST, 'names a package registry'],
    [UNFINISHED, 'is marked unfinished'],
    [MODULE_MOCK, 'replaces a module in a test'],
    ...(answersRequests(path) ? [[BARE_ERROR, 'throws what is taken for a store that is away'] as Rule] : []),
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
  if (room === 'bench' || !to.includes('/')) return undefined;
  if (target === 'bench') return MAY_USE_BENCH.test(from) ? undefined : `product code imports ${to}`;
  if (room === 'schemas' && target !== 'schemas') return `schemas/ imports ${to}`;
  if (from.startsWith('infra/ports/') && !/^(schemas|infra\/ports)\//.test(to)) return `a port imports ${to}`;
  if (room === 'infra' && SERVICES.includes(target)) {
    return COMPOSITION.test(from) || /\.sys\.test\.ts$/.test(from) ? undefined : `infra/ imports ${to}`;
  }
  if (!SERVICES.includes(room)) return undefined;
  if (SERVICES.includes(target) && target !== room) return `a service imports another: ${to}`;
  const namesAdapter = ADAPTER.test(to) && !COMPOSITION.test(from) && !isTest(from);
  return namesAdapter ? `an adapter is named outside main.ts, composition and tests: ${to}` : undefined;
}

function packageFault(from: string, specifier: string): string | undefined {
  const outside = from.startsWith('schemas/') && !isTest(from) && !SCHEMA_PACKAGE.test(specifier);
  return outside ? `schemas/ imports the package ${specifier}` : undefined;
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
