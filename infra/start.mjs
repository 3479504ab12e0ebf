/**
 * `npm start`: installs and builds what is missing or out of date, then becomes the supervisor, in this
 * very process: ending it ends everything. With the name of a role it becomes that role instead. Plain
 * JavaScript of the oldest kind that still parses, without imports from packages, so that it can say what
 * is wrong with a machine that has nothing yet.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** zlib.crc32, which every frame of the log carries, came with 20.15 and 22.2. */
const NODE_AT_LEAST = [20, 15];
const ROLES = ['ingest', 'aggregator', 'control-plane', 'delivery'];
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

refuseOldNode();
installIfNeeded();
await buildIfNeeded();
await import(programOf(process.argv[2]));

function programOf(role) {
  if (role === undefined) return '../dist/infra/all-in-one.js';
  if (ROLES.includes(role)) return `../dist/${role}/main.js`;
  console.error(`There is no role ${role}: ${ROLES.join(', ')}.`);
  process.exit(2);
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isOld = major < NODE_AT_LEAST[0] || (major === NODE_AT_LEAST[0] && minor < NODE_AT_LEAST[1]);
  const isOld22 = major === 21 || (major === 22 && minor < 2);
  if (!isOld && !isOld22) return;
  console.error(
    `Metergate needs Node.js ${NODE_AT_LEAST.join('.')} or later; this is ${process.versions.node}.`,
  );
  process.exit(1);
}

/** npm leaves a copy of the lock file in node_modules as its last act. */
function installIfNeeded() {
  const installedAt = modifiedAt(join(ROOT, 'node_modules', '.package-lock.json'));
  if (installedAt >= modifiedAt(join(ROOT, 'package-lock.json'))) return;
  console.error('Installing packages (once)');
  // Not `npm ci`: it refuses a lock file that leaves out packages of other platforms, which is what npm
  // writes where a registry does not carry them. The build's tools are development packages, whatever
  // NODE_ENV says.
  const args = ['install', '--no-save', '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath;
  const options = { cwd: ROOT, stdio: ['ignore', 2, 2] };
  const { status } = npm
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, options);
  if (status !== 0) {
    console.error('npm install failed: see above.');
    process.exit(1);
  }
}

async function buildIfNeeded() {
  const { build, isOutdated } = await import('./build.mjs');
  if (!isOutdated()) return;
  console.error('Building (once per change)');
  build();
}

function modifiedAt(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? stats.mtimeMs : 0;
}
