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

// Red when the memory of a batch is used for another one before it is settled.
it('a batch stays what it is until it is settled, whatever is read meanwhile', () => {
  const { folder } = folderOf({});
  for (let k = 0; k < 40; k++) folder.append(`{"k":${k}}`);
  const claims = Array.from({ length: 10 }, () => folder.take({ ...ALL, eventsMax: 2 }));
  for (const at of [3, 0, 7]) claims[at]?.settle();
  const more = Array.from({ length: 10 }, () => folder.take({ ...ALL, eventsMax: 2 }));
  const waiting = [...claims.filter((_, at) => ![3, 0, 7].includes(at)), ...more];
  const kept = waiting.flatMap((claim) => eventsOf(claim?.events ?? batchOf([])));
  const firsts = [1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
  expect(kept).toEqual(firsts.flatMap((at) => [`{"k":${2 * at}}`, `{"k":${2 * at + 1}}`]));
});
