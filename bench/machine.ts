import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

export interface MachineFacts {
  node: string;
  machine: { cpu: string; cores: number; memoryGib: number; system: string };
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

/** The short name of the commit that is checked out; `none` outside a repository. */
export function commit(): string {
  try {
    const name = git('rev-parse', '--short', 'HEAD').trim();
    const changed = git('status', '--porcelain', '--', '*.ts', '*.mjs');
    // Figures of sources that are in no commit say so.
    return changed.trim() === '' ? name : `${name}+changes`;
  } catch {
    return 'none';
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
