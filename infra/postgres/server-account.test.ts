import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Fatal } from '../../schemas/failures.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { launchAs } from './server-account.ts';

/** Of `nobody`: the permission bits for others decide which folders it may enter. */
const STRANGER = { uid: 54_321, gid: 54_321 };

function folder(mode: number): string {
  const root = testFolder();
  chmodSync(root, 0o755);
  const inner = join(root, 'inner');
  mkdirSync(inner);
  chmodSync(inner, mode);
  return join(inner, 'postgres');
}

test('without another account, and where every folder is open, the program is started as it is', () => {
  const [open, closed] = [folder(0o711), folder(0o700)];
  expect(launchAs(undefined, [closed, '-D'], [closed])).toEqual({
    command: closed,
    args: ['-D'],
    account: undefined,
  });
  expect(launchAs(STRANGER, [open, '-D'], [open])).toEqual({
    command: open,
    args: ['-D'],
    account: STRANGER,
  });
});

/** Red when only the last folder, or only the program's, is looked at. */
test.each([
  ['the program', 0o700, 0o711],
  ['the data', 0o711, 0o700],
])('where a folder above %s is closed, setpriv opens it or the message names it', (_, ofProgram, ofData) => {
  const [program, data] = [folder(ofProgram), join(folder(ofData), 'deeper')];
  try {
    const { command, args, account } = launchAs(STRANGER, [program, '-D'], [data]);
    expect([command, account]).toEqual([expect.stringMatching(/setpriv$/), undefined]);
    expect(args).toEqual(
      expect.arrayContaining(['--reuid=54321', '--ambient-caps=+dac_override', program, '-D']),
    );
  } catch (error) {
    // On a machine without setpriv.
    if (!(error instanceof Fatal)) throw error;
    expect(error).toMatchObject({ code: 'folder_closed', message: expect.stringContaining('inner') });
  }
});
