import { isAbsolute, join } from 'node:path';
import { descriptorOf, type GivenPath, pathsOf, type SystemCall } from '../../support/system-calls.ts';
import type { DiskNode } from './disk-history.ts';

/** What an `open` gave: shared by all descriptors that were copied from it. */
export interface OpenFile {
  node: DiskNode;
  /** Where the next write without an offset goes. */
  at: number;
  append: boolean;
  dsync: boolean;
}

export type OpenFiles = ReturnType<typeof createOpenFiles>;

interface Process {
  files: Map<number, OpenFile>;
  folder: string;
}

const MAKES_PROCESS = /^(clone3?|v?fork)$/;

/** The descriptors and working folders of all traced processes. */
export function createOpenFiles(calls: SystemCall[]) {
  const processes = new Map<number, Process>();

  function processOf({ thread }: SystemCall): Process {
    const known = processes.get(thread);
    if (known) return known;
    const first = { files: new Map(), folder: '/' };
    processes.set(thread, first);
    return first;
  }

  function makeProcess(call: SystemCall): void {
    const parent = processOf(call);
    const isThread = call.args.includes('CLONE_FILES');
    const child = isThread ? parent : { files: new Map(parent.files), folder: parent.folder };
    processes.set(call.result ?? 0, child);
  }

  const absolute = (call: SystemCall, { below, path }: GivenPath): string => {
    return isAbsolute(path) ? path : join(below ?? processOf(call).folder, path);
  };

  return {
    /** The calls in the order in which they are to be followed: a process is made before it does anything. */
    inOrder: [...calls].sort((a, b) => timeOf(a) - timeOf(b)),
    /** Records what a call does to descriptors, processes and working folders. */
    follow(call: SystemCall): void {
      const { name, result = -1 } = call;
      if (MAKES_PROCESS.test(name) && result > 0) makeProcess(call);
      const { files } = processOf(call);
      const copied = /^dup/.test(name) || (name === 'fcntl' && call.args.includes('F_DUPFD'));
      if (copied && result >= 0) {
        const file = files.get(descriptorOf(call));
        if (file) files.set(result, file);
        else files.delete(result);
      }
      if (name === 'close') files.delete(descriptorOf(call));
      if (name === 'lseek' && result >= 0) {
        const file = files.get(descriptorOf(call));
        if (file) file.at = result;
      }
      if (name === 'chdir' && result === 0) {
        const [given] = pathsOf(call);
        if (given) processOf(call).folder = absolute(call, given);
      }
    },
    open(call: SystemCall, file: OpenFile): void {
      processOf(call).files.set(call.result ?? -1, file);
    },
    /** The file behind the call's first argument, where its opening was recorded. */
    of: (call: SystemCall) => processOf(call).files.get(descriptorOf(call)),
    absolute,
  };
}

/**
 * A child may be through with a call before its parent's fork returns, and a descriptor be given again before
 * the close that freed it does.
 */
function timeOf({ name, began, ended }: SystemCall): number {
  return MAKES_PROCESS.test(name) || name === 'close' ? began : ended;
}
