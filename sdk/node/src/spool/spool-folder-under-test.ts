import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { thisProcess } from './owner.ts';

/** Above any that Linux gives. */
export const NO_PID = 2 ** 30;

/** As if the process that owns this folder had ended. */
export function endOwner(folder: string): void {
  writeFileSync(join(folder, 'owner.json'), JSON.stringify({ ...thisProcess(), pid: NO_PID }));
}

/** Names of the folders of processes. */
export function foldersIn(root: string): string[] {
  return readdirSync(root).filter((name) => /^[ap]-/.test(name));
}

export function onlyFolder(root: string): string {
  const [name, ...more] = foldersIn(root);
  if (name === undefined || more.length > 0) throw new Error(`${root} has ${foldersIn(root)}`);
  return join(root, name);
}

/** Changes a file; a negative offset is from its end. */
export function spoil(path: string, change: (bytes: Buffer) => Buffer): void {
  writeFileSync(path, change(readFileSync(path)));
}
