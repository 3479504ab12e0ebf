import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { dataDirAt, prepareDataDir } from './data-dir.ts';
import { exitCodeOf } from './exit-code.ts';

/*
 * Seen red with each code left to Node: EEXIST, ENAMETOOLONG, ELOOP and ENOENT as they come, exit 1; and with
 * folders made recursively: /proc/x never returns.
 */
describe('a DATA_DIR', () => {
  it('is created with its parent folders and its contents, readable by us alone', () => {
    const root = join(testFolder(), 'above', 'a $HOME "b" \'c\' %s #?&; \u6771', 'data');
    for (const _ of ['first', 'again']) {
      expect(prepareDataDir(root)).toMatchObject({ root, warehouse: join(root, 'warehouse') });
    }
    expect(statSync(root).mode & 0o777).toBe(0o711);
    expect(statSync(dataDirAt(root).log).mode & 0o777).toBe(0o700);
  });

  const unusable: Array<[name: string, make: (folder: string) => string, message: RegExp]> = [
    ['that is a file', (folder) => file(join(folder, 'file')), /file is not a folder \(EEXIST\)\. Fix that/],
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
  it.each(unusable)('%s is rejected in one sentence with exit 2', (_, make, message) => {
    expectRejected(make(testFolder()), message);
  });

  it.runIf(process.platform === 'linux')('where no folder can be made is rejected, too', () => {
    expectRejected('/proc/metergate/data', /takes no folders \(ENOENT\)\./);
  });
});

/*
 * Seen red with each of them left to the code that opens it: ENOTDIR of postmaster.pid, EISDIR of the secret
 * and of the endpoints, exit 1 and a stack trace.
 */
describe('an entry of a DATA_DIR', () => {
  const FOLDERS = [
    ...['log', 'keys', 'postgres', 'warehouse', 'locks', 'run'],
    ...['warehouse/data', 'warehouse/metadata', 'warehouse/store'],
  ];
  const FILES = [
    ...['server-secret', 'demo-keys.json', 'demo-keys.json.uncommitted', 'demo-keys.json.uncommitted.new'],
    ...['run/endpoints.json', 'run/endpoints.json.new', 'warehouse/metergate-stamp.json'],
    ...['warehouse/metergate-stamp.json.new', 'locks/data-dir.lock', 'locks/ingest.lock'],
    ...['locks/control.lock', 'log/log.json', 'log/log.json.new', 'log/durable-end'],
    ...['log/00000000000000000000.seg', 'keys/records', 'keys/records.new', 'keys/checkpoint'],
    ...['postgres.log', 'postgres-password', 'postgres-password.new', 'postgres/metergate-password'],
    'postgres/postmaster.pid',
  ];

  function prepared(name: string): { root: string; path: string } {
    const { root, postgres } = prepareDataDir(join(testFolder(), 'data'));
    const path = join(root, name);
    if (name.startsWith('postgres/')) mkdirSync(postgres);
    rmSync(path, { recursive: true, force: true });
    return { root, path };
  }

  it.each(FOLDERS)('may be a folder %s, or a link to one, and is rejected as a file with exit 2', (name) => {
    const { root, path } = prepared(name);
    mkdirSync(path);
    prepareDataDir(root);
    rmSync(path, { recursive: true });
    symlinkSync(testFolder(), path);
    prepareDataDir(root);
    rmSync(path);
    file(path);
    expectRejected(root, new RegExp(`${name} is not a folder \\(E[A-Z]+\\)\\. Fix that`));
  });

  it.each(FILES)(
    'may be a file %s, or a link to one, and is rejected as anything else with exit 2',
    (name) => {
      const { root, path } = prepared(name);
      file(path);
      prepareDataDir(root);
      rmSync(path);
      symlinkSync(file(join(testFolder(), 'elsewhere')), path);
      prepareDataDir(root);
      rmSync(path);
      mkdirSync(path);
      expectRejected(
        root,
        new RegExp(`${name} is a folder, and has to be a file \\(EISDIR\\)\\. Move it away`),
      );
      rmSync(path, { recursive: true });
      symlinkSync('nowhere', path);
      expectRejected(root, new RegExp(`${name} is a link to nothing`));
    },
  );

  it('that is neither a file nor a folder is rejected, too: to read it would wait forever', () => {
    const { root, path } = prepared('server-secret');
    execFileSync('mkfifo', [path]);
    expectRejected(root, /server-secret is neither a file nor a folder \(EINVAL\)\. Move it away/);
  });
});

function file(path: string): string {
  writeFileSync(path, '');
  return path;
}

function expectRejected(root: string, expected: RegExp): void {
  let rejection: unknown;
  try {
    prepareDataDir(root);
  } catch (error) {
    rejection = error;
  }
  expect(rejection).toMatchObject({ code: 'data_dir_closed', message: expect.stringMatching(expected) });
  const { message } = rejection as Error;
  expect(message).toMatch(/^DATA_DIR cannot be used: [^\n]+$/);
  expect(message.length).toBeLessThan(400);
  expect(exitCodeOf(rejection)).toBe(2);
}
