import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it, vi } from 'vitest';
import { testFolder } from '../../../../tests/support/test-folder.ts';
import { ulid } from '../meter/ulid.ts';
import { adoptOrphans } from './adopt.ts';
import { isOrphan, type Owner, releaseOwner, thisProcess, threadOf, writeOwner } from './owner.ts';
import { foldersIn, NO_PID } from './spool-folder-under-test.ts';

const SELF = thisProcess();
/** Its heartbeat is this old. */
const SILENT_S = 121;

function folderOf(owner: Partial<Owner>, silentSeconds = 0, root = testFolder()): string {
  const folder = join(root, `p-${ulid(Date.now())}`);
  mkdirSync(folder);
  writeOwner(folder, { ...SELF, ...owner });
  const at = Date.now() / 1_000 - silentSeconds;
  utimesSync(join(folder, 'owner.json'), at, at);
  return folder;
}

it('a process names its start and its namespace: another one may have its number', () => {
  expect(SELF).toMatchObject({ version: 1, pid: process.pid });
  if (process.platform !== 'linux') return;
  expect(SELF.startedAt).toMatch(/^\d+$/);
  expect(SELF.pidNamespace).toMatch(/^pid:\[\d+\]$/);
  expect(SELF.bootId).toMatch(/^[0-9a-f-]{36}$/);
});

it.each<[what: string, owner: Partial<Owner>, silentSeconds: number, isOrphaned: boolean]>([
  ['this process', {}, 0, false],
  ['this process, which was stopped for long', {}, SILENT_S, false],
  ['a process that ended', { pid: NO_PID }, 0, true],
  ['a thread that cannot be seen', { thread: { id: 0, startedAt: '' } }, 0, false],
  ['one that is silent', { thread: { id: 0, startedAt: '' } }, SILENT_S, true],
  ['a process whose number another one has now', { startedAt: '1' }, 0, true],
  ['a process of an earlier boot', { bootId: 'before' }, 0, true],
  ['another container on this machine', { pidNamespace: 'pid:[1]', pid: NO_PID }, 0, false],
  ['one that is silent', { pidNamespace: 'pid:[1]', pid: NO_PID }, SILENT_S, true],
  ['a later release', { version: 2 as never, pid: NO_PID }, SILENT_S, false],
  ['another machine', { host: 'elsewhere', bootId: 'theirs', pid: NO_PID }, 0, false],
  ['one that is silent', { host: 'elsewhere', bootId: 'theirs', pid: NO_PID }, SILENT_S, true],
])('a folder of %s', (_, owner, silentSeconds, isOrphaned) => {
  expect(isOrphan(folderOf(owner, silentSeconds), SELF)).toBe(isOrphaned);
});

it.runIf(process.platform === 'linux')(
  'a folder of a thread that ended, while its process runs',
  async () => {
    const ended = "require('node:fs').readlinkSync('/proc/thread-self')";
    const worker = new Worker(
      `require('node:worker_threads').parentPort.on('message', () => 0).postMessage(${ended})`,
      {
        eval: true,
      },
    );
    const thread = threadOf(await new Promise<string>((resolve) => worker.once('message', resolve)));
    expect(thread).toMatchObject({ id: expect.any(Number), startedAt: expect.stringMatching(/^\d+$/) });
    const folder = folderOf({ thread });
    expect(isOrphan(folder, SELF)).toBe(false);
    await worker.terminate();
    await vi.waitFor(() => expect(isOrphan(folder, SELF)).toBe(true), { timeout: 10_000 });
    expect(isOrphan(folderOf({ thread: { id: process.pid, startedAt: 'before' } }), SELF)).toBe(true);
  },
);

it('a folder that was released is free at once, also for other machines', () => {
  const folder = folderOf({});
  releaseOwner(folder, SELF);
  expect(isOrphan(folder, SELF)).toBe(true);
  expect(isOrphan(folder, { ...SELF, host: 'elsewhere' })).toBe(true);
});

it('a folder without an owner is being made, unless that was long ago', () => {
  const folder = folderOf({});
  for (const text of ['', '{', '{"version":1}', '[]', 'null']) {
    writeFileSync(join(folder, 'owner.json'), text);
    expect(isOrphan(folder, SELF)).toBe(false);
  }
  rmSync(join(folder, 'owner.json'));
  expect(isOrphan(folder, SELF)).toBe(false);
  utimesSync(folder, 1, 1);
  expect(isOrphan(folder, SELF)).toBe(true);
});

it('orphans are taken over by name, those of a process that ended while it drained them too', () => {
  const root = testFolder();
  const dead = folderOf({ pid: NO_PID }, 0, root);
  const alive = folderOf({}, 0, root);
  const drainer = ulid(1);
  const left = join(root, `a-${drainer}-${basename(folderOf({ pid: NO_PID }, 0, root))}`);
  renameSync(join(root, basename(left).slice(-28)), left);
  const id = ulid(2);
  const options = { root, id, owner: SELF, used: new Set<string>() };
  const adopted = adoptOrphans(options).map((path) => basename(path));
  expect(adopted.sort()).toEqual([dead, left].map((path) => `a-${id}-${basename(path).slice(-28)}`).sort());
  expect(foldersIn(root).sort()).toEqual([...adopted, basename(alive)].sort());
  // Now they are those of a process that runs.
  expect(adoptOrphans({ ...options, id: ulid(3) })).toEqual([]);
});

it('a folder that was drained is removed, when its drainer ended before it could do that', () => {
  const root = testFolder();
  mkdirSync(join(root, `a-${ulid(1)}-p-${ulid(2)}`));
  expect(adoptOrphans({ root, id: ulid(3), owner: SELF, used: new Set() })).toEqual([]);
  expect(foldersIn(root)).toEqual([]);
});

it('a folder is not taken from a process that runs and has just taken it over', () => {
  const root = testFolder();
  const adopter = basename(folderOf({}, 0, root)).slice(2);
  const dead = folderOf({ pid: NO_PID }, 0, root);
  renameSync(dead, join(root, `a-${adopter}-${basename(dead)}`));
  expect(adoptOrphans({ root, id: ulid(3), owner: SELF, used: new Set() })).toEqual([]);
});

it('a folder whose owner cannot be read just now is not taken over: it may live', () => {
  const folder = testFolder();
  // As without descriptors: an error that does not say that there is none.
  mkdirSync(join(folder, 'owner.json'));
  utimesSync(folder, 0, 0);
  expect(isOrphan(folder, thisProcess())).toBe(false);
});
