import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { acquireLock } from '../infra/platform/process-lock.ts';
import { lockOf, makeTree, PROGRAM, printing, type Tree } from './tree-under-test.ts';

const LONG_AGO = new Date('2020-01-01T00:00:00Z');

/** As `tar x` and `rsync -a` leave it. */
function unpack({ write, path }: Tree, name: string, text: string): void {
  write(name, text);
  utimesSync(path(name), LONG_AGO, LONG_AGO);
}

/** Red when a source is judged by its time, and when a deleted one is not missed. */
test('a release that is unpacked over another is built, however old its files are', async () => {
  const tree = makeTree();
  tree.write('infra/old.sql', 'old');
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'first\n' });
  unpack(tree, PROGRAM, printing('second'));
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'second\n' });
  expect(tree.read('dist/infra/old.sql')).toBe('old');
  rmSync(tree.path('infra/old.sql'));
  await tree.start();
  expect(() => tree.read('dist/infra/old.sql')).toThrow('ENOENT');
});

/** Red when touching is taken for editing. */
test('what is built from these very sources is not built again', async () => {
  const tree = makeTree();
  await tree.start();
  tree.write(PROGRAM, tree.read(PROGRAM));
  expect(await tree.start()).toEqual({ code: 0, stdout: 'first\n', stderr: '' });
});

/** Red when only sources decide: what runs would be the package of before; or what no program contains. */
test('a program contains its packages, and is built again when others are installed', async () => {
  const tree = makeTree();
  const writePackage = (word: string, version = word === 'first' ? '1.0.0' : '1.0.1') => {
    const entry = { name: 'word', version, type: 'module', main: 'word.js' };
    tree.write('node_modules/word/package.json', JSON.stringify(entry));
    tree.write('node_modules/word/word.js', `export const word = '${word}';`);
  };
  tree.write(PROGRAM, "import { word } from 'word';\nconsole.log(word);\n");
  writePackage('first');
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'first\n' });
  writePackage('second');
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'second\n' });
  const koa = { version: '3.0.0', integrity: 'sha512-first' };
  const installed = { 'node_modules/koa': koa, 'node_modules/vitest': { dev: true } };
  tree.write('node_modules/.package-lock.json', lockOf(installed));
  expect(await tree.start()).toEqual({ code: 0, stdout: 'second\n', stderr: '' });
});

/** Red when packages are judged by the time of their lock file. */
test('packages are installed when the lock file names others, however old it is', async () => {
  const tree = makeTree();
  await tree.start();
  unpack(
    tree,
    'package-lock.json',
    lockOf({ '': {}, 'node_modules/koa': { version: '3.0.1', integrity: 'sha512-second' } }),
  );
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'first\n' });
  expect(tree.read('npm-calls').split('\n')).toHaveLength(2);
  expect(await tree.start()).toEqual({ code: 0, stdout: 'first\n', stderr: '' });
});

/** Red when npm is called for what only tests need, or another platform: it may be out of reach. */
test('nothing is installed when all that is needed is there, in whatever way it came', async () => {
  const tree = makeTree();
  await tree.start();
  const koa = { version: '3.0.0', integrity: 'sha512-first' };
  const others = { 'node_modules/vitest': { dev: true }, 'node_modules/fsevents': { optional: true } };
  tree.write('package-lock.json', lockOf({ '': {}, 'node_modules/koa': koa, ...others }));
  expect(await tree.start()).toEqual({ code: 0, stdout: 'first\n', stderr: '' });
  tree.write(PROGRAM, printing('second'));
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'second\n' });
  expect(() => tree.read('npm-calls')).toThrow('ENOENT');
});

/** Red when what was installed before is trusted: some of it may be missing by then. */
test('an installation that was cut off is begun again, also by the release before', async () => {
  const tree = makeTree();
  await tree.start();
  const [npm, lock] = [tree.read('npm.cjs'), tree.read('package-lock.json')];
  tree.write('npm.cjs', 'process.exit(1)');
  tree.write('package-lock.json', lockOf({ 'node_modules/koa': { integrity: 'sha512-second' } }));
  expect(await tree.start()).toMatchObject({ code: 1, stdout: '' });
  tree.write('npm.cjs', npm);
  tree.write('package-lock.json', lock);
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'first\n' });
  expect(tree.read('npm-calls').split('\n')).toHaveLength(2);
});

const MODULE = 'ingest/engine/wasm/one.wasm';

function writeModule({ write }: Tree, word: string): void {
  const settings = { entries: ['./one.ts'], options: { outFile: '../one.wasm', runtime: 'stub' } };
  write('ingest/engine/wasm/assembly/asconfig.json', JSON.stringify(settings));
  const text = word.repeat(1_000 / word.length);
  write('ingest/engine/wasm/assembly/one.ts', `export function one(): string { return '${text}'; }\n`);
}

/** Strings of a module have two bytes for each character. */
function holds({ path }: Tree, name: string, word: string): boolean {
  return readFileSync(path(name)).includes(Buffer.from(word.repeat(100), 'utf16le'));
}

/** Red when the compiler, which does not report what it could not write, writes to where it is read. */
test('a module that a full disk cut off is reported, and left nowhere', async () => {
  const tree = makeTree();
  writeModule(tree, 'first');
  const full = await tree.start('ulimit -f 1');
  expect(full).toMatchObject({ code: 1, stdout: '' });
  expect(full.stderr).toContain('one.wasm');
  expect(existsSync(tree.path(MODULE))).toBe(false);
  expect(readdirSync(tree.path('.')).filter((name) => name.startsWith('dist'))).toEqual([]);
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'first\n' });
  expect(holds(tree, `dist/${MODULE}`, 'first')).toBe(true);
});

/** Red when only what a module is made of is looked at. */
test('a module that is missing or another than was built is built again', async () => {
  const tree = makeTree();
  writeModule(tree, 'first');
  await tree.start();
  for (const place of [MODULE, `dist/${MODULE}`]) tree.write(place, 'damaged');
  await tree.start();
  expect(holds(tree, MODULE, 'first')).toBe(true);
  for (const place of [MODULE, `dist/${MODULE}`]) rmSync(tree.path(place));
  await tree.start();
  expect(holds(tree, `dist/${MODULE}`, 'first')).toBe(true);
  // As a checkout that is put next to a dist that was built elsewhere: what runs is there.
  rmSync(tree.path(MODULE));
  await tree.start();
  expect(existsSync(tree.path(MODULE))).toBe(false);
  writeModule(tree, 'second');
  await tree.start();
  expect(holds(tree, `dist/${MODULE}`, 'second')).toBe(true);
  expect(await tree.start()).toEqual({ code: 0, stdout: 'first\n', stderr: '' });
});

/** In a container that one had the same number. Red when only the new dist is cleared before. */
test('a build ignores what one left that was killed while it cleared up', async () => {
  const tree = makeTree();
  await tree.start();
  tree.write(PROGRAM, printing('second'));
  expect(await tree.start('mkdir -p dist.old.$$/infra')).toMatchObject({ code: 0, stdout: 'second\n' });
  expect(readdirSync(tree.path('.')).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
});

/** Red when the lock is looked at only by the new release: a child that ends would come back as that. */
test('a folder from which a Metergate runs is neither built nor installed again', async () => {
  const tree = makeTree();
  await tree.start();
  const release = await acquireLock(tree.path('data/locks/data-dir.lock'));
  const before = tree.read('data/locks/data-dir.lock');
  tree.write(PROGRAM, printing('second'));
  tree.write('package-lock.json', lockOf({ 'node_modules/koa': { integrity: 'sha512-second' } }));
  const rejected = await tree.start();
  expect(rejected).toMatchObject({ code: 3, stdout: '' });
  expect(rejected.stderr).toMatch(
    /^The program in \S+ has to be .+ a Metergate runs on \S+data: stop it .+\n$/,
  );
  expect(tree.read('dist/app/all-in-one.js')).toContain('first');
  expect(tree.read('data/locks/data-dir.lock')).toBe(before);
  release();
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'second\n' });
  expect(tree.read('data/locks/data-dir.lock')).toBe('');
});

/** Shows by a file which process it is, and continues to run. */
const STAYS = `
  import { writeFileSync } from 'node:fs';
  writeFileSync('runs-' + process.env.DATA_DIR, String(process.pid));
  setTimeout(() => {}, 60_000);
`;

/** Red when only the start's own DATA_DIR is looked at: what runs on others would be replaced as well. */
test.runIf(process.platform === 'linux')('what runs from the folder is not replaced either', async () => {
  const tree = makeTree();
  tree.write(PROGRAM, STAYS);
  const dataDirs = ['one', 'two'];
  const ended = dataDirs.map((name) => tree.start(`export DATA_DIR=${name}`));
  const pids = dataDirs.map((name) => () => Number(tree.read(`runs-${name}`)));
  await vi.waitFor(() => pids.map((pid) => expect(pid()).toBeGreaterThan(0)), 20_000);
  tree.write(PROGRAM, printing('second'));
  for (const pid of pids) {
    const rejected = await tree.start();
    expect(rejected).toMatchObject({ code: 3, stdout: '' });
    expect(rejected.stderr).toMatch(
      /^The program in \S+ has to be .+ process \d+ runs from it: stop it .+\n$/,
    );
    process.kill(pid(), 'SIGKILL');
  }
  await Promise.all(ended);
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'second\n' });
});

/** Red when each installs and builds for itself, into one place. */
test.runIf(process.platform === 'linux')('of many that start on a fresh clone one prepares it', async () => {
  const tree = makeTree();
  rmSync(tree.path('node_modules/.package-lock.json'));
  // Time for all of them to come upon it.
  tree.write('npm.cjs', `${tree.read('npm.cjs')}; setTimeout(() => {}, 1_000);`);
  const started = await Promise.all([1, 2, 3].map(() => tree.start()));
  expect(started.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
    Array.from({ length: 3 }, () => ({ code: 0, stdout: 'first\n' })),
  );
  expect(tree.read('npm-calls').split('\n')).toHaveLength(2);
  const output = started.map(({ stderr }) => stderr).join('');
  expect(output.match(/^Building/gm)).toHaveLength(1);
  expect(output.match(/^Waiting/gm)).toHaveLength(2);
});

/** Red when the bundle is no part of the build, or its sources none of what decides about one. */
test('the console is bundled with the product, and again when one of its files is another', async () => {
  const tree = makeTree();
  tree.write('console/page.html', '<link rel="stylesheet" href="{style}"><script src="{script}"></script>');
  tree.write('schemas/events.ts', "export const EVENT_TYPES: string[] = ['plan.dreamt'];\n");
  const names = 'declare const EVENT_TYPES: string[];\nconsole.log(EVENT_TYPES);';
  tree.write('console/app/main.tsx', `import './one.css';\n${names}\n${printing('first')}`);
  tree.write('console/app/one.css', 'p { color: red; }');
  expect(await tree.start()).toMatchObject({ code: 0 });
  const [style, script] = namedFiles(tree);
  expect(tree.read(`dist${style}`)).toContain('red');
  expect(tree.read(`dist${script}`)).toContain('first');
  expect(tree.read(`dist${script}`)).toContain('plan.dreamt');
  expect(existsSync(tree.path(`dist${script}.br`))).toBe(true);
  tree.write('console/app/main.tsx', `import './one.css';\n${printing('second')}`);
  expect(await tree.start()).toMatchObject({ code: 0 });
  const [sameStyle, otherScript] = namedFiles(tree);
  expect(sameStyle).toBe(style);
  expect(tree.read(`dist${otherScript}`)).toContain('second');
  // A test of it is no reason for a build.
  tree.write('console/app/main.test.ts', printing('test'));
  expect(await tree.start()).toMatchObject({ code: 0, stderr: '' });
});

/** By their paths, as the built page has them. */
function namedFiles({ read }: Tree): string[] {
  return [...read('dist/console/page.html').matchAll(/"(\/console\/[^"]+)"/g)].map(([, path = '']) => path);
}
