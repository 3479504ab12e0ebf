import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataDirAt, prepareDataDir } from './data-dir.ts';
import { exitCodeOf } from './exit-code.ts';
import { testFolder } from './test-folder.ts';

/*
 * Seen red with each code left to Node: EEXIST, ENAMETOOLONG, ELOOP and ENOENT as they come, exit 1; and with
 * folders made recursively: /proc/x never answers.
 */
describe('a DATA_DIR', () => {
  it('is made with what stands above it and with what stands in it, ours alone', () => {
    const root = join(testFolder(), 'above', 'a $HOME "b" \'c\' %s #?&; \u6771', 'data');
    for (const _ of ['first', 'again']) {
      expect(prepareDataDir(root)).toMatchObject({ root, warehouse: join(root, 'warehouse') });
    }
    expect(statSync(root).mode & 0o777).toBe(0o711);
    expect(statSync(dataDirAt(root).log).mode & 0o777).toBe(0o700);
  });

  const unusable: Array<[name: string, make: (folder: string) => string, says: RegExp]> = [
    ['that is a file', (folder) => file(join(folder, 'file')), /file is not a folder \(EEXIST\)\. Mend that/],
    ['below a file', (folder) => join(file(join(folder, 'file')), 'x'), /is not a folder \(ENOTDIR\)\./],
    [
      'in which a file has the name of a store',
      (folder) => {
        mkdirSync(join(folder, 'data'));
        file(join(folder, 'data', 'log'));
        return join(folder, 'data');
      },
      /log is not a folder \(EEXIST\)\./,
    ],
    [
      'with a name that is too long',
      (folder) => join(folder, 'n'.repeat(300)),
      /too long \(ENAMETOOLONG\)\./,
    ],
    [
      'whose path is too long',
      (folder) => join(folder, 'name/'.repeat(1_000)),
      /too long \(ENAMETOOLONG\)\./,
    ],
    [
      'that is a link to itself',
      (folder) => {
        symlinkSync('loop', join(folder, 'loop'));
        return join(folder, 'loop', 'data');
      },
      /leads back to itself \(ELOOP\)\./,
    ],
    [
      'that is a link to nothing',
      (folder) => {
        symlinkSync('nowhere', join(folder, 'link'));
        return join(folder, 'link');
      },
      /link is a link to nothing/,
    ],
  ];
  it.each(unusable)('%s is refused in one sentence with exit 2', (_, make, says) => {
    expectRefused(make(testFolder()), says);
  });

  it.runIf(process.platform === 'linux')('where no folder can be made is refused, too', () => {
    expectRefused('/proc/metergate/data', /takes no folders \(ENOENT\)\./);
  });
});

function file(path: string): string {
  writeFileSync(path, '');
  return path;
}

function expectRefused(root: string, says: RegExp): void {
  let refusal: unknown;
  try {
    prepareDataDir(root);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toMatchObject({ code: 'data_dir_closed', message: expect.stringMatching(says) });
  const { message } = refusal as Error;
  expect(message).toMatch(/^DATA_DIR cannot be used: [^\n]+$/);
  expect(message.length).toBeLessThan(400);
  expect(exitCodeOf(refusal)).toBe(2);
}
