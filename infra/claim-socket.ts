import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, openSync, renameSync, statSync } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname } from 'node:path';

const ANSWER_MS = 1_000;
const TRIES = 5;

/**
 * Listens at `file`, which only one process at a time can, until the function that is returned is called or
 * the process ends. Undefined when another one does. Pids mean nothing across containers that share a folder:
 * a socket means the same to all processes of one kernel. Where the folder takes no sockets nothing is held.
 */
export async function claimSocket(file: string): Promise<(() => void) | undefined> {
  const { path, close } = shortened(file);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const server = await listen(path);
    if (server === 'impossible') return close;
    if (server === 'taken') {
      const stale = inodeOf(path);
      if ((await isHeard(path)) || !(await removeStale(path, stale))) break;
    } else if (await isReached(server, path)) {
      return () => {
        server.close();
        close();
      };
    }
    // Else the name is another one's by now, and to close ours would remove it: it ends with the process.
  }
  close();
  return undefined;
}

/**
 * Nobody listened there. Whoever does since then gets the name back, and who had the name and did not listen
 * yet finds that it leads elsewhere.
 */
async function removeStale(path: string, stale: number | undefined): Promise<boolean> {
  const aside = `${path}.${randomUUID()}`;
  // In one turn: of who took the name meanwhile nothing is to be moved.
  if (stale === undefined || inodeOf(path) !== stale) return true;
  try {
    renameSync(path, aside);
  } catch {
    return true; // another one was quicker
  }
  const isLiving = await isHeard(aside);
  if (isLiving) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
  return !isLiving;
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Whether what connects to the name comes to this one. */
async function isReached(server: Server, path: string): Promise<boolean> {
  const reached = once(server, 'connection', { signal: AbortSignal.timeout(ANSWER_MS) }).catch(
    () => undefined,
  );
  return (await isHeard(path)) && (await reached) !== undefined;
}

async function listen(path: string): Promise<Server | 'taken' | 'impossible'> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(path);
    await once(server, 'listening');
    return server.unref();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'taken' : 'impossible';
  }
}

/** A process that is stopped hears, too: its kernel does. */
async function isHeard(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(ANSWER_MS) });
    return true;
  } catch (error) {
    return !['ECONNREFUSED', 'ENOENT'].includes(String((error as NodeJS.ErrnoException).code));
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

/** The address of a socket has room for some hundred bytes. */
function shortened(file: string): { path: string; close(): void } {
  if (process.platform !== 'linux') return { path: file, close: () => undefined };
  const folder = openSync(dirname(file), constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${folder}/${basename(file)}`, close: () => closeSync(folder) };
}
