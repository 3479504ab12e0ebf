import { readdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { isOrphan, type Owner, writeOwner } from './owner.ts';

/** `p-<ULID>` is the folder of a process, `a-<its ULID>-p-<ULID>` one that it has taken over. */
const FOLDER = /^(?:a-([0-9A-Z]{26})-)?(p-([0-9A-Z]{26}))$/;

export interface AdoptOptions {
  root: string;
  /** Of this process: of its own folder. */
  id: string;
  owner: Owner;
  /** Paths that it uses already. */
  used: ReadonlySet<string>;
}

/**
 * Takes over the folders of processes that ended, and returns their paths. Two processes may try the same
 * one: the rename decides. A second one between the rename and the mark of the new owner makes both
 * send what is in it, which is counted once.
 */
export function adoptOrphans({ root, id, owner, used }: AdoptOptions): string[] {
  const names = readdirSync(root).filter((name) => FOLDER.test(name));
  const isAlive = (ulid: string) => ulid === id || isOwned(root, names, ulid, owner);
  return names.flatMap((name) => {
    const path = join(root, name);
    const [, adopter, ofProcess = ''] = FOLDER.exec(name) ?? [];
    if (adopter !== undefined && wasDrained(path)) return [];
    // Taken over before, when it could not be opened.
    if (adopter === id && !used.has(path)) return [path];
    // mutant: orphans-left
    if (used.has(path) || (adopter !== undefined && isAlive(adopter)) || !isOrphan(path, owner)) return [];
    const adopted = join(root, `a-${id}-${ofProcess}`);
    try {
      renameSync(path, adopted);
    } catch {
      return [];
    }
    mark(adopted, owner);
    return [adopted];
  });
}

/** On a full disk it stays without; its name says the same to those that look closer. */
function mark(folder: string, owner: Owner): void {
  try {
    writeOwner(folder, owner);
  } catch {
    // It is drained all the same.
  }
}

/** Its owner ended while it removed what it had drained: such a folder is empty, and no other one is. */
function wasDrained(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function isOwned(root: string, names: readonly string[], ulid: string, self: Owner): boolean {
  const name = `p-${ulid}`;
  return names.includes(name) && !isOrphan(join(root, name), self);
}
