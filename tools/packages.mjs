/**
 * The packages that package-lock.json names: whether they are there, and their installation. Plain
 * JavaScript without packages, for start.mjs and test-run.mjs.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** What npm says is there: written as its last act, by whatever command. */
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json');
/**
 * Not `npm ci`: it refuses a lock file that leaves out packages of other platforms, which is what npm writes
 * where a registry does not carry them. The build's tools are development packages, whatever NODE_ENV says;
 * Postgres comes in optional ones.
 */
const INSTALL = ['install', '--no-save', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];

/**
 * Told by what the two files hold: a lock file that is unpacked over another may be older than what was
 * installed by that. Optional packages are of other platforms; those of development are needed to build.
 */
export function isInstalled({ toBuild }) {
  const installed = packagesOf(INSTALLED);
  // The nameless one is the project itself.
  const { '': project, ...wanted } = packagesOf(join(ROOT, 'package-lock.json'));
  return Object.entries(wanted).every(([path, { integrity, optional, devOptional, dev }]) =>
    installed[path] ? installed[path].integrity === integrity : optional || devOptional || (dev && !toBuild),
  );
}

/** True when npm did it; it has said why when not. */
export function install() {
  // One that is cut off is begun again, be it by the release before.
  rmSync(INSTALLED, { force: true });
  const npm = process.env.npm_execpath;
  const options = { cwd: ROOT, stdio: ['ignore', 2, 2] };
  const { status } = npm
    ? spawnSync(process.execPath, [npm, ...INSTALL], options)
    : spawnSync('npm', INSTALL, options);
  return status === 0;
}

/** {} where the file is missing or was cut off. */
function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return {};
  }
}
