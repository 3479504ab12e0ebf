import { rmSync, utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeTree, PROGRAM, says, type Tree } from './tree-under-test.ts';

const LONG_AGO = new Date('2020-01-01T00:00:00Z');

/** As `tar x` and `rsync -a` leave it. */
function unpack({ write, path }: Tree, name: string, text: string): void {
  write(name, text);
  utimesSync(path(name), LONG_AGO, LONG_AGO);
}

/** Red when a source is judged by its time, and when one that is gone is not missed. */
test('a release that is unpacked over another is built, however old its files are', async () => {
  const tree = makeTree();
  tree.write('infra/old.ts', says('old'));
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'first\n' });
  unpack(tree, PROGRAM, says('second'));
  expect(await tree.start()).toMatchObject({ code: 0, stdout: 'second\n' });
  expect(tree.read('dist/infra/old.js')).toContain('old');
  rmSync(tree.path('infra/old.ts'));
  await tree.start();
  expect(() => tree.read('dist/infra/old.js')).toThrow('ENOENT');
});

/** Red when touching is taken for editing. */
test('what is built from these very sources is not built again', async () => {
  const tree = makeTree();
  await tree.start();
  tree.write(PROGRAM, tree.read(PROGRAM));
  expect(await tree.start()).toEqual({ code: 0, stdout: 'first\n', stderr: '' });
});
