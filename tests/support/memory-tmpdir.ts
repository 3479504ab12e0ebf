import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';
/** Four times what tests of stores were seen to hold there at once (268 MiB). */
const BYTES_MIN = 1024 ** 3;

/**
 * For tests that are about no disk: names that come and go by the thousand, as those of databases do, cost a
 * disk's file system more than the tests themselves. The ordinary folder where there is too little memory.
 */
export function memoryTmpdir(): string {
  if (!existsSync(IN_MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return bavail * bsize >= BYTES_MIN ? IN_MEMORY : tmpdir();
}
