/**
 * Makes dist/ from the sources of the product: WebAssembly first, then its programs, then the files that they
 * read. `npm run build`, or by start.mjs when the last build was of other sources. With `--tests` it makes
 * dist-tests/ too, of everything there is, each module by itself: for tests and benchmarks that run as
 * processes of their own, and for mutants, which change one module.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { binaryName, correctBinary, REVIEWED_BINARIES } from './corrected-uws.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BUNDLES = join(ROOT, 'tools', 'bundles');
/**
 * For each: where it goes, its folders, those of what browsers run, each bundled by a script of its own, and
 * the compiler settings that select its files, if there are any.
 */
const PRODUCT = {
  dist: join(ROOT, 'dist'),
  rooms: ['schemas', 'infra', 'domain', 'ingest', 'aggregator', 'control-plane', 'delivery', 'app'],
  pages: ['console', 'widget'],
  settings: [],
  buildJavaScript: (folder) => run(join(BUNDLES, 'build-programs.mjs'), folder),
};
const MODULES = join(ROOT, 'tools', 'tsconfig.tests.json');
const EVERYTHING = {
  dist: join(ROOT, 'dist-tests'),
  rooms: [...PRODUCT.rooms, 'tests', 'bench', 'tools', 'sdk/node/src'],
  pages: PRODUCT.pages,
  settings: [MODULES],
  // Types are judged by `npm run check`.
  buildJavaScript: (folder) => run(TOOLS.tsc, '-p', MODULES, '--noCheck', '--outDir', folder),
};
const UWS = join(ROOT, 'node_modules', 'uWebSockets.js');
/** Written by what is run, not read by any build. */
const RESULTS = join(ROOT, 'bench', 'results');
const STAMP = '.built';
/** Written by build-programs.mjs: the folder of each package that programs contain, and its version. */
const PACKAGES = '.packages.json';
/** No part of the product. */
const OF_TESTS = /(\.test|-under-test|-oracle)\.ts$|[/\\]conformance[/\\]/;
/** Files that compiled code reads from its own folder. */
const READ_AT_RUN_TIME = new Set(['.sql', '.wasm', '.html', '.css', '.node']);
/** Made by a build, next to the sources. */
const MADE = new Set(['.wasm', '.node']);
const TOOLS = {
  asc: join(ROOT, 'node_modules', 'assemblyscript', 'bin', 'asc.js'),
  tsc: join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
};

/**
 * True when dist/ is missing, or of other sources, or a module is not the one that was built. Decided by
 * content, in some 20 ms: a release that is unpacked over another may be older by its files' times, and
 * clocks are set back.
 */
export function isOutdated(target = PRODUCT) {
  const { dist } = target;
  const built = readStamp(target);
  // Running modules are in dist; next to the sources, where a checkout leaves them out, they may be missing.
  const running = modules().map((module) => ({ ...module, place: join(dist, relative(ROOT, module.place)) }));
  const isOfThisNode = !needsBinary() || existsSync(join(dist, 'infra', 'http', binaryName()));
  const isWhole = isOfThisNode && running.every((module) => isBuilt(module, built));
  return !isWhole || built.sources !== hashOf(writtenSources(target)) || !hasItsPackages(dist);
}

/** Programs contain packages: others of them may be installed by now. */
function hasItsPackages(dist) {
  const packages = readJson(join(dist, PACKAGES));
  const versionOf = (name) => readJson(join(ROOT, name, 'package.json')).version;
  return Object.entries(packages).every(([name, version]) => versionOf(name) === version);
}

/** Built next to its place and moved there complete: a build that is cut off leaves nothing half-made. */
export function build(target = PRODUCT) {
  const { dist } = target;
  const fresh = `${dist}.${process.pid}`;
  const old = `${dist}.old.${process.pid}`;
  // In a container a build that was killed had the same number.
  for (const left of [fresh, old]) rmSync(left, { recursive: true, force: true });
  try {
    buildInto(fresh, target);
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(fresh, dist);
    rmSync(old, { recursive: true, force: true });
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function buildInto(fresh, target) {
  // Taken before: what is edited while this runs is not in this build.
  const stamp = { sources: hashOf(writtenSources(target)), modules: buildWebAssembly(fresh) };
  if (needsBinary()) writeBinary(fresh);
  target.buildJavaScript(fresh);
  for (const path of sources(target).filter((source) => READ_AT_RUN_TIME.has(extname(source)))) {
    cpSync(path, path.replace(ROOT, fresh), { recursive: true });
  }
  for (const page of target.pages.filter((name) => existsSync(join(ROOT, name)))) {
    run(join(BUNDLES, `build-${page}.mjs`), join(fresh, page));
  }
  writeFileSync(join(fresh, STAMP), JSON.stringify(stamp));
}

/** Compiles what is not what was built last. Returns the stamps of all, by the names of their settings. */
function buildWebAssembly(scratch) {
  const built = readStamp(PRODUCT);
  const stamps = modules().map((module) => {
    if (!isBuilt(module, built)) compile(module, scratch);
    return [module.name, stampOf(module)];
  });
  return Object.fromEntries(stamps);
}

/** False where the package is left out or has no reviewed binary: node:http takes its place. */
function needsBinary() {
  return binaryName() in REVIEWED_BINARIES && existsSync(join(UWS, binaryName()));
}

/** Throws where the installed binary is another one than was reviewed. */
function writeBinary(scratch) {
  const place = join(ROOT, 'infra', 'http', binaryName());
  const corrected = correctBinary(binaryName(), readFileSync(join(UWS, binaryName())));
  if (existsSync(place) && readFileSync(place).equals(corrected)) return;
  mkdirSync(scratch, { recursive: true });
  mkdirSync(dirname(place), { recursive: true });
  const fresh = join(scratch, basename(place));
  writeFileSync(fresh, corrected);
  renameSync(fresh, place);
}

/** The compiler does not report what it could not write, for example on a full disk, and ends with 0. */
function compile({ settings, place }, scratch) {
  const fresh = join(scratch, basename(place));
  run(TOOLS.asc, '--config', settings, '--outFile', fresh);
  if (!WebAssembly.validate(readFileSync(fresh))) throw new Error(`${place} could not be written whole`);
  renameSync(fresh, place);
}

/** The WebAssembly modules by their settings, with what each is made of just now. */
function modules() {
  const found = sources(PRODUCT).filter((path) => path.endsWith('asconfig.json'));
  return found.map((settings) => {
    const folder = dirname(settings);
    const { outFile } = JSON.parse(readFileSync(settings, 'utf8')).options;
    const from = hashOf(filesIn(folder));
    return { name: relative(ROOT, settings), settings, place: join(folder, outFile), from };
  });
}

function isBuilt(module, built) {
  return built.modules?.[module.name] === stampOf(module);
}

/** What it was made of and what that made. */
function stampOf({ from, place }) {
  const made = existsSync(place) ? createHash('sha256').update(readFileSync(place)).digest('hex') : '';
  return `${from} ${made}`;
}

function run(tool, ...args) {
  const { status } = spawnSync(process.execPath, [tool, ...args], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${tool} ended with ${status}`);
}

function writtenSources(target) {
  const settings = [join(ROOT, 'package.json'), join(ROOT, 'tsconfig.json'), ...target.settings];
  const bundled = target.pages.flatMap((page) => filesIn(join(ROOT, page)).filter(isBundled));
  const written = sources(target).filter((path) => !MADE.has(extname(path)));
  return [...settings, ...filesIn(BUNDLES), ...written, ...bundled];
}

/** npm puts packages there that another room has in another version. */
function isBundled(path) {
  return !OF_TESTS.test(path) && !/[/\\]node_modules[/\\]/.test(path);
}

/** Of the product without its tests: editing a test does not cause a build. */
function sources({ rooms, dist }) {
  const found = rooms.flatMap((room) => filesIn(join(ROOT, room)));
  return dist === PRODUCT.dist ? found.filter((path) => !OF_TESTS.test(path)) : found;
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath !== RESULTS);
  return files.map((entry) => join(entry.parentPath, entry.name));
}

function hashOf(paths) {
  const hash = createHash('sha256');
  // Folders are read in any order; and what was listed may be deleted.
  for (const path of paths.sort().filter((one) => existsSync(one))) {
    const bytes = readFileSync(path);
    hash.update(`${relative(ROOT, path)}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** What the last build was made of; {} where there is none. */
function readStamp({ dist }) {
  return readJson(join(dist, STAMP));
}

/** {} where there is none. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const targets = process.argv.includes('--tests') ? [PRODUCT, EVERYTHING] : [PRODUCT];
  for (const target of targets) build(target);
}
