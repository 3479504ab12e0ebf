/**
 * `npm start`: installs and builds what is missing or out of date, then becomes the supervisor, in this
 * very process: ending it ends everything. With the name of a role it becomes that role instead. Plain
 * JavaScript of the oldest kind that still parses, without imports from packages, so that it can say what
 * is wrong with a machine that has nothing yet.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** zlib.crc32, which every frame of the log carries, came with 20.15 and 22.2. */
const NODE_AT_LEAST = [20, 15];
const ROLES = ['ingest', 'aggregator', 'control-plane', 'delivery'];
/** As in exit-code.ts. */
const BAD_CONFIGURATION = 2;
const DATA_DIR_IN_USE = 3;
const USAGE = `Usage: npm start, which runs everything on this machine, or npm run with the name of a role:
  ${ROLES.join(', ')}
There are no options: settings are variables of the environment, such as HOST, PORT and DATA_DIR
(docs/operate/configuration.md).
npm run admin -- --help and npm run audit -- --help show the commands for a running instance.
Exit codes: 0 stopped, 1 failed, 2 bad configuration, 3 DATA_DIR is in use, 4 what is stored is rejected.`;
const TRY_LOCK = `
  const [, locks, file] = process.argv;
  const { acquireLock } = await import(locks);
  const release = await acquireLock(file).catch(({ code }) => {
    process.exit(code === 'data_dir_in_use' ? ${DATA_DIR_IN_USE} : 1);
  });
  release();
`;
/** An installation over a slow line takes minutes. */
const OTHERS_WAIT_MS = 600_000;
const OTHERS_POLL_EVERY_MS = 100;
const STARTER = process.ppid;
/** The folder of this program, whatever its DATA_DIR: it is part of the names of sockets. */
const FOLDER = createHash('sha256')
  .update(import.meta.url)
  .digest('hex');

rejectOldNode();
const program = programOf(process.argv.slice(2));
await prepare();
endWithNpm();
await reportThatItRuns();
await import(program);

/** Before anything is installed or built: a word that is misspelt starts nothing. */
function programOf([role, ...more]) {
  if ([role, ...more].some((word) => word === '--help' || word === '-h')) {
    console.log(USAGE);
    process.exit(0);
  }
  if (role === undefined) return '../dist/app/all-in-one.js';
  if (ROLES.includes(role) && more.length === 0) return `../dist/app/roles/${role}.js`;
  const unknown = ROLES.includes(role) ? more.join(' ') : role;
  console.error(`There is no \`${unknown}\` to be started.\n${USAGE}`);
  process.exit(BAD_CONFIGURATION);
}

function rejectOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isOld = major < NODE_AT_LEAST[0] || (major === NODE_AT_LEAST[0] && minor < NODE_AT_LEAST[1]);
  const isOld22 = major === 21 || (major === 22 && minor < 2);
  if (!isOld && !isOld22) return;
  console.error(
    `Metergate needs Node.js ${NODE_AT_LEAST.join('.')} or later; this is ${process.versions.node}.`,
  );
  process.exit(1);
}

/** Loaded here, since an old Node may not even parse them. */
async function prepare() {
  const { build, isOutdated } = await import('../tools/build.mjs');
  const { install, isInstalled } = await import('../tools/packages.mjs');
  if (!isOutdated() && isInstalled({ withDev: false })) return;
  await alone(() => {
    // Looked at again: another one may have done it meanwhile.
    const toBuild = isOutdated();
    const toInstall = !isInstalled({ withDev: false });
    if (toBuild || toInstall) rejectUnderRunning();
    if (toInstall) {
      console.error('Installing packages (once)');
      if (!install({ withDev: false })) {
        console.error('npm install failed: see above.');
        process.exit(1);
      }
      endWithNpm();
    }
    // Asked again: programs contain what was installed just now.
    if (!isOutdated()) return;
    console.error('Building (once per change)');
    build();
  });
}

/**
 * When the npm that runs this is killed, the operator assumes that Metergate has stopped. From its start on
 * the supervisor checks this itself (npm-process.ts); it cannot know whether its npm ended earlier.
 */
function endWithNpm() {
  if (process.env.npm_lifecycle_event !== 'start' || process.ppid === STARTER) return;
  console.error('The npm that ran this start has ended: it ends, too.');
  process.exit(1);
}

/**
 * Roles that start together would install and build into one place. The process that binds an abstract socket
 * name is taken first: the kernel releases the name however its owner ends, and no package is needed. Only
 * Linux has such names; elsewhere no process waits.
 */
async function alone(work) {
  const name = `\0metergate ${FOLDER}`;
  let bound = await bind(name);
  if (bound.code === 'EADDRINUSE') console.error('Waiting for another start that installs or builds');
  const giveUpAt = performance.now() + OTHERS_WAIT_MS;
  while (bound.code === 'EADDRINUSE' && performance.now() < giveUpAt) {
    await new Promise((done) => setTimeout(done, OTHERS_POLL_EVERY_MS));
    bound = await bind(name);
  }
  try {
    work();
  } finally {
    if (bound.server) bound.server.close();
  }
}

function bind(name) {
  // The socket serves nothing: a client that connects would only cost files.
  const server = createServer((socket) => socket.destroy());
  return new Promise((done) => {
    server.once('error', ({ code }) => done({ code }));
    server.listen(name, () => done({ server }));
  });
}

/** By such a name too, for as long as this process is there: any number may run from one folder. */
async function reportThatItRuns() {
  const { server } = await bind(`\0metergate runs ${FOLDER} ${process.pid}`);
  if (server) server.unref();
}

/**
 * What runs loads more of dist/ later, at the latest for a child that ended, and must not get another
 * release.
 */
function rejectUnderRunning() {
  const dataDir = resolve(process.env.DATA_DIR || 'data');
  const pid = runningFromHere();
  if (pid === undefined && !isLocked(dataDir)) return;
  const runner = pid === undefined ? `a Metergate runs on ${dataDir}` : `process ${pid} runs from it`;
  console.error(
    `The program in ${resolve(fileURLToPath(import.meta.url), '../..')} has to be built or installed, ` +
      `and ${runner}: stop it first. To run a second one, unpack the new release into a folder ` +
      'of its own, and give it a DATA_DIR of its own.',
  );
  process.exit(DATA_DIR_IN_USE);
}

/** Undefined when none runs, or when that cannot be found out: only on Linux, and within one container. */
function runningFromHere() {
  const sockets = '/proc/net/unix';
  if (!existsSync(sockets)) return undefined;
  const found = new RegExp(`@metergate runs ${FOLDER} (\\d+)`).exec(readFileSync(sockets, 'utf8'));
  return found ? found[1] : undefined;
}

/**
 * The lock is tried as the release does it that was built last, by a process of its own: what is loaded in
 * this one stays. Where it cannot be tried nothing is printed: the start looks itself.
 */
function isLocked(dataDir) {
  const locks = new URL('../dist/infra/platform/process-lock.js', import.meta.url);
  const file = resolve(dataDir, 'locks', 'data-dir.lock');
  if (process.argv[2] !== undefined || !existsSync(locks) || !existsSync(file)) return false;
  const args = ['--input-type=module', '--eval', TRY_LOCK, locks.href, file];
  return spawnSync(process.execPath, args, { stdio: 'ignore' }).status === DATA_DIR_IN_USE;
}
