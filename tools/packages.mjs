/**
 * The packages that package-lock.json names: whether they are there, and their installation. Plain
 * JavaScript without packages, for start.mjs and test-run.mjs.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** npm's list of what is there: written as its last act, by whatever command. */
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json');
/**
 * Not `npm ci`: it rejects a lock file that leaves out packages of other platforms, which is what npm writes
 * where a registry does not carry them. Postgres comes in optional packages.
 */
const INSTALL = ['install', '--no-save', '--include=optional', '--no-audit', '--no-fund'];
const UWS = join(ROOT, 'node_modules', 'uWebSockets.js');

/**
 * Decided by what the two files contain: a lock file that is unpacked over another may be older than what was
 * installed by that. Optional packages are of other platforms; those of development are for tests.
 */
export function isInstalled({ withDev }) {
  const installed = packagesOf(INSTALLED);
  // The nameless one is the project itself.
  const { '': project, ...wanted } = packagesOf(join(ROOT, 'package-lock.json'));
  return Object.entries(wanted).every(([path, { integrity, optional, devOptional, dev }]) =>
    installed[path] ? installed[path].integrity === integrity : optional || devOptional || (dev && !withDev),
  );
}

/**
 * True when npm did it; otherwise it has printed why. Without `withDev` the packages of development are left
 * out, unless some are there: npm would remove them from the folder of a developer.
 */
export function install({ withDev }) {
  const hasDev = Object.values(packagesOf(INSTALLED)).some(({ dev }) => dev === true);
  // One that is cut off is begun again, be it by the release before.
  rmSync(INSTALLED, { force: true });
  const npm = process.env.npm_execpath;
  const args = [...INSTALL, withDev || hasDev ? '--include=dev' : '--omit=dev'];
  const options = { cwd: ROOT, stdio: ['ignore', 2, 2] };
  const { status } = npm
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, options);
  if (status === 0) dropForeignBinaries();
  return status === 0;
}

/**
 * The package brings the binaries of all platforms, a quarter of a gigabyte; those of this one stay, for each
 * version of Node.
 */
function dropForeignBinaries() {
  const own = `uws_${process.platform}_${process.arch}_`;
  const binaries = existsSync(UWS) ? readdirSync(UWS).filter((name) => name.endsWith('.node')) : [];
  for (const name of binaries) if (!name.startsWith(own)) rmSync(join(UWS, name), { force: true });
}

/** {} where the file is missing or was cut off. */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return {};
  }
}
