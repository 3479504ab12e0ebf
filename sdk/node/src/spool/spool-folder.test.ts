import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testFolder } from '../../../../tests/support/test-folder.ts';
import { batchOf, eventsOf } from '../meter/event-batch.ts';
import { SpoolFolder } from './spool-folder.ts';

const ALL = { eventsMax: 500, bytesMax: 1024 * 1024 };
const taken = (folder: SpoolFolder) => eventsOf(folder.take(ALL)?.events ?? batchOf([]));

function folderOf(fails: { written?: boolean; made?: boolean }) {
  const path = testFolder();
  let made = 0;
  const failWhen = (isSo: boolean | undefined): void => {
    if (isSo) throw new Error('EIO');
  };
  const folder = new SpoolFolder(path, {
    isOwn: true,
    written: () => failWhen(fails.written),
    made: () => {
      made += 1;
      failWhen(fails.made);
    },
    damaged: () => undefined,
    kept: () => undefined,
  });
  return { folder, path, made: () => made };
}

it('an event that cannot be flushed is not there', () => {
  const fails = { written: false };
  const { folder, path } = folderOf(fails);
  folder.append('{"k":1}');
  const file = join(path, '00000001.seg');
  const { size } = statSync(file);
  fails.written = true;
  expect(() => folder.append('{"k":2}')).toThrow('EIO');
  expect([statSync(file).size, folder.waiting()]).toEqual([size, 1]);
  fails.written = false;
  folder.append('{"k":3}');
  expect(taken(folder)).toEqual(['{"k":1}', '{"k":3}']);
  expect(String(readFileSync(file))).not.toContain('"k":2');
});

it('nor one in a file whose name cannot be flushed: the next one gets another file', () => {
  const fails = { made: true };
  const { folder, made } = folderOf(fails);
  expect(() => folder.append('{"k":1}')).toThrow('EIO');
  expect(folder.waiting()).toBe(0);
  fails.made = false;
  folder.append('{"k":2}');
  expect(taken(folder)).toEqual(['{"k":2}']);
  expect(made()).toBe(2);
});
