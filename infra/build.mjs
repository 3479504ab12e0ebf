/**
 * Makes dist/ from the sources: WebAssembly first, then JavaScript, then what is read beside it. `npm run
 * build`, or by start.mjs when something is newer than the last build.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.built');
/** Written by what is run, not read by any build. */
const RESULTS = join(ROOT, 'bench', 'results');
const ROOMS = ['schemas', 'infra', 'ingest', 'aggregator', 'control-plane', 'delivery', 'bench'];
/** Files that compiled code reads from beside itself. */
const READ_AT_RUN_TIME = new Set(['.sql', '.wasm', '.html', '.css']);
const TOOLS = {
  asc: join(ROOT, 'node_modules', 'assemblyscript', 'bin', 'asc.js'),
  tsc: join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
};

/** True when dist/ is missing or a source is newer. */
export function isOutdated() {
  const builtAt = modifiedAt(STAMP);
  const settings = ['package.json', 'tsconfig.json'].map((name) => join(ROOT, name));
  const written = sources().filter((path) => extname(path) !== '.wasm');
  return [...settings, ...written].some((path) => modifiedAt(path) > builtAt);
}

/** Built beside its place and put there whole: a build that is cut off leaves nothing half-made. */
export function build() {
  const startedAt = new Date();
  const fresh = `${DIST}.${process.pid}`;
  buildWebAssembly();
  // Types are judged by `npm run check`; whoever starts a release need not wait for that.
  run(TOOLS.tsc, '-p', join(ROOT, 'infra', 'tsconfig.build.json'), '--noCheck', '--outDir', fresh);
  for (const path of sources().filter((source) => READ_AT_RUN_TIME.has(extname(source)))) {
    cpSync(path, path.replace(ROOT, fresh), { recursive: true });
  }
  const stamp = join(fresh, '.built');
  writeFileSync(stamp, '');
  // What was edited while this ran is newer than this build.
  utimesSync(stamp, startedAt, startedAt);
  const old = `${DIST}.old.${process.pid}`;
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(fresh, DIST);
  rmSync(old, { recursive: true, force: true });
}

function buildWebAssembly() {
  for (const path of sources().filter((source) => source.endsWith('asconfig.json'))) {
    const folder = dirname(path);
    const { outFile } = JSON.parse(readFileSync(path, 'utf8')).options;
    const newest = Math.max(...filesIn(folder).map(modifiedAt));
    if (modifiedAt(join(folder, outFile)) < newest) run(TOOLS.asc, '--config', path);
  }
}

function run(tool, ...args) {
  const { status } = spawnSync(process.execPath, [tool, ...args], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${tool} ended with ${status}`);
}

function sources() {
  return ROOMS.flatMap((room) => filesIn(join(ROOT, room)));
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath !== RESULTS);
  return files.map((entry) => join(entry.parentPath, entry.name));
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) build();
