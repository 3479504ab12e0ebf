import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, fileSystemName } from './machine.ts';
import { folderOfThisFile, testFolder } from './test-folder.ts';

const folder = folderOfThisFile();
beforeAll(() => {
  mkdirSync(join(folder, 'bench', 'results'), { recursive: true });
  for (const path of FILES) write(path, '1');
  git('init');
  git('add', '.');
  git('commit', '-m', 'a');
});

const FILES = ['a.ts', 'schema.sql', 'package-lock.json', 'README.md', 'bench/results/one.json'];
const write = (path: string, text: string) => writeFileSync(join(folder, path), text);

function git(...args: string[]): void {
  const someone = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...someone, ...args], { cwd: folder, stdio: 'ignore' });
}

describe('the commit of a result', () => {
  // Fault this catches: only TypeScript is compared, and other queries pass for those of the commit.
  it.each(['a.ts', 'schema.sql', 'package-lock.json'])('is distinguished from a changed %s', (path) => {
    expect(commit(folder)).toMatch(/^[0-9a-f]+$/);
    write(path, '2');
    expect(commit(folder)).toMatch(/^[0-9a-f]+\+changes$/);
    write(path, '1');
  });

  it('is distinguished from a new source, but not from notes', () => {
    write('notes.txt', '');
    expect(commit(folder)).not.toContain('changes');
    write('b.sql', '');
    expect(commit(folder)).toContain('+changes');
    rmSync(join(folder, 'b.sql'));
  });

  it.each(['README.md', 'bench/results/one.json'])('is the same whatever %s contains', (path) => {
    write(path, '2');
    expect(commit(folder)).not.toContain('changes');
  });

  it('is none where there is no repository', () => {
    expect(commit(testFolder())).toBe('none');
  });
});

describe('a file system', () => {
  it('is named where its number is known', () => {
    expect([0xef53, 0x01021994, 0xabc].map(fileSystemName)).toEqual(['ext4', 'tmpfs', '0xabc']);
  });
});
