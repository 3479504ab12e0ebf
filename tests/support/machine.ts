import { execFileSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';

export interface MachineFacts {
  node: string;
  machine: {
    cpu: string;
    cores: number;
    memoryGib: number;
    system: string;
    /** Of the folder for what is temporary: data of the instances that are measured are there. */
    fileSystem: string;
  };
  /** Of the packages that figures depend on most. */
  versions: Record<string, string>;
}

const PACKAGES = ['uWebSockets.js', 'chdb', 'koa', 'pg', 'hdr-histogram-js'];

/** What figures were measured on. */
export function machineFacts(): MachineFacts {
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    fileSystem: fileSystemName(statfsSync(tmpdir()).type),
  };
  const versions = Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)]));
  return { node: process.version, machine, versions };
}

function versionOf(name: string): string {
  try {
    const path = join('node_modules', name, 'package.json');
    return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  } catch {
    return 'unknown';
  }
}

/** The numbers of statfs(2) on Linux. */
const FILE_SYSTEMS = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x2fc12fc1, 'zfs'],
  [0x794c7630, 'overlay'],
  [0x01021994, 'tmpfs'],
  [0x6969, 'nfs'],
]);

/** In hexadecimal digits where it has no name here. */
export function fileSystemName(number: number): string {
  return FILE_SYSTEMS.get(number) ?? `0x${number.toString(16)}`;
}

/** What is written by hand or by runs and goes into no build. */
const NO_SOURCES = ['bench/results', '*.md'];
/** New files may be anybody's notes, but for these. */
const NEW_SOURCE = /\.(ts|mjs|sql)$/;

/** The short name of the commit that is checked out; `none` outside a repository. */
export function commit(folder = '.'): string {
  const git = (...args: string[]) => {
    const output = execFileSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return output.trim();
  };
  try {
    const name = git('rev-parse', '--short', 'HEAD');
    const others = NO_SOURCES.map((pattern) => `:(exclude)${pattern}`);
    const lines = git('status', '--porcelain', '--untracked-files=all', '--', '.', ...others).split('\n');
    const changed = lines.filter((line) => line !== '' && (!line.startsWith('??') || NEW_SOURCE.test(line)));
    // Figures of sources that are in no commit say so.
    return changed.length === 0 ? name : `${name}+changes`;
  } catch {
    return 'none';
  }
}
