import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SystemCall } from '../../support/system-calls.ts';
import { testFolder } from '../../support/test-folder.ts';
import { recordDisk } from './record-disk.ts';

// Red when such a removal counts as not made: the file is there in each later power cut, and those behind it
// are not.
it('a removal in which its process was killed was made unless the name is found later', () => {
  expect(namesAfter(call('unlink', 'gone', Number.NaN))).toEqual(['there']);
  expect(namesAfter(call('unlink', 'gone', Number.NaN), call('openat', 'gone', 7))).toEqual([
    'gone',
    'there',
  ]);
  expect(namesAfter(call('unlink', 'gone', Number.NaN), call('openat', 'gone', -1))).toEqual(['there']);
  expect(namesAfter(call('unlink', 'gone', Number.NaN), call('unlink', 'gone', 0))).toEqual(['there']);
});

function namesAfter(...calls: SystemCall[]): string[] {
  const before = join(testFolder(), 'before');
  mkdirSync(before);
  for (const name of ['gone', 'there']) writeFileSync(join(before, name), 'x');
  const timed = calls.map((one, at) => ({ ...one, began: at * 2, ended: at * 2 + 1 }));
  const { root } = recordDisk({ root: '/data', before, calls: timed });
  return root.kind === 'folder' ? [...root.now.keys()].sort() : [];
}

function call(name: string, file: string, result: number): SystemCall {
  const path = `"/data/${file}"`;
  const args = name === 'openat' ? `AT_FDCWD, ${path}, O_RDONLY` : path;
  return { name, thread: 1, args, result, began: 0, ended: 0 };
}
