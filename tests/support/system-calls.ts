import { spawn, spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';

/** One system call of a traced process, as strace prints it. Its times are line numbers of the trace. */
export interface SystemCall {
  name: string;
  thread: number;
  /** The text between the parentheses; read it with {@link bytesOf} and its like. */
  args: string;
  /** -1 for a failure; undefined for a call that a kill cut off. */
  result: number | undefined;
  began: number;
  /** Infinity for a call that a kill cut off. */
  ended: number;
}

/** Everything that changes a folder's contents or makes them durable, and what is sent to the outside. */
const TRACED = [
  'open,openat,openat2,creat,close,dup,dup2,dup3,fcntl,lseek,chdir,fchdir,clone,clone3,fork,vfork',
  'write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,copy_file_range,sendfile,msync',
  'fsync,fdatasync,sync,syncfs,rename,renameat,renameat2,link,linkat,unlink,unlinkat,symlink,symlinkat',
  'mkdir,mkdirat,rmdir,sendto,sendmsg,io_uring_enter',
].join(',');

/** More than any frame, so that no text is cut short. */
const TEXT_BYTES_MAX = 64 * 1024 * 1024;

const QUIET = ['-qq', '-o', '/dev/null'];
const TRIAL_TIMEOUT_MS = 10_000;

/** Whether this account may trace what it starts: containers often forbid it. */
export function hasStrace(): boolean {
  return spawnSync('strace', [...QUIET, 'true'], { timeout: TRIAL_TIMEOUT_MS }).status === 0;
}

/**
 * Whether it may trace a process that runs already. Tried on one that does nothing but write: its first call
 * under the tracer is its end.
 */
export function mayAttach(): boolean {
  const busy = spawn('yes', { stdio: 'ignore' }).on('error', () => undefined); // seen by its missing pid
  // Node 20 takes 0 for the pid of a child that is not there: killing that is killing our own group.
  if (busy.pid === undefined) return false;
  const args = [...QUIET, '-p', String(busy.pid), '-e', 'inject=write:signal=KILL'];
  try {
    return spawnSync('strace', args, { timeout: TRIAL_TIMEOUT_MS }).status === 0;
  } finally {
    busy.kill('SIGKILL');
  }
}

/**
 * What to put before a command so that its calls, and those of all processes it starts, go to `file`. The
 * tracer is a process of its own: the command keeps its place as our child, its channel and its signals.
 */
export function traceTo(file: string): string[] {
  const whole = ['-f', '--seccomp-bpf', '-y', '-s', String(TEXT_BYTES_MAX), '-e', 'signal=KILL'];
  return ['strace', '-D', ...whole, '-o', file, '-e', `trace=${TRACED}`];
}

/** The calls of a trace in the order in which they returned. Their times begin with `firstTime`. */
export async function readSystemCalls(file: string, firstTime = 0): Promise<SystemCall[]> {
  const calls: SystemCall[] = [];
  const unfinished = new Map<number, SystemCall>();
  let time = firstTime;
  for await (const line of linesOf(file)) {
    time++;
    const space = line.indexOf(' ');
    const thread = Number(line.slice(0, space));
    const text = line.slice(space).trimStart();
    if (text.startsWith('<... ')) {
      const call = unfinished.get(thread);
      if (!call) continue;
      unfinished.delete(thread);
      calls.push(finish(call, call.args + text.slice(text.indexOf('resumed>') + 8), time));
      continue;
    }
    const parenthesis = text.indexOf('(');
    if (parenthesis < 0 || !/^[a-z]/.test(text)) continue;
    const args = text.slice(parenthesis + 1);
    const begun = { name: text.slice(0, parenthesis), thread, args, result: undefined, began: time };
    const call: SystemCall = { ...begun, ended: Number.POSITIVE_INFINITY };
    if (!args.endsWith(UNFINISHED)) calls.push(finish(call, args, time));
    else unfinished.set(thread, { ...call, args: args.slice(0, -UNFINISHED.length).trimEnd() });
  }
  return [...calls, ...unfinished.values()];
}

const UNFINISHED = '<unfinished ...>';

function finish(call: SystemCall, whole: string, time: number): SystemCall {
  const equals = whole.lastIndexOf(') ');
  const result = /^\) +(?:<detached|= (-?\d+|\?))/.exec(whole.slice(equals))?.[1];
  return { ...call, args: whole.slice(0, equals), result: Number(result ?? -1), ended: time };
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(file, { highWaterMark: 4 * 1024 * 1024 })) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at)]).toString('latin1');
      rest = [];
      from = at + 1;
    }
    rest.push(chunk.subarray(from));
  }
}

/** The first argument where it is a descriptor. */
export function descriptorOf({ args }: SystemCall): number {
  return Number.parseInt(args, 10);
}

/** The last argument where it is a number. */
export function lastNumberOf({ args }: SystemCall): number {
  return Number(args.slice(args.lastIndexOf(',') + 1));
}

/** All that was written, of one buffer or of many. */
export function bytesOf({ args }: SystemCall): Buffer {
  const pieces: Buffer[] = [];
  for (let at = args.indexOf('"'); at >= 0; ) {
    const { bytes, end } = readText(args, at + 1);
    pieces.push(bytes);
    at = args.indexOf('"', end + 1);
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

export interface GivenPath {
  /** Of the descriptor that it is relative to, where the call has one. */
  below: string | undefined;
  path: string;
}

/** The paths of a call that has no other texts. */
export function pathsOf({ args }: SystemCall): GivenPath[] {
  const found = args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g);
  return [...found].map(([, below, path = '']) => ({
    below,
    path: readText(`${path}"`, 0).bytes.toString(),
  }));
}

const NAMED: Record<string, number> = { n: 10, t: 9, r: 13, v: 11, f: 12, a: 7, b: 8 };
const QUOTE = 34;
const BACKSLASH = 92;

/** Reads C's way of writing bytes, up to the closing quote. */
function readText(text: string, from: number): { bytes: Buffer; end: number } {
  let end = text.indexOf('"', from);
  const plainUntil = text.indexOf('\\', from);
  if (plainUntil < 0 || plainUntil > end) return { bytes: Buffer.from(text.slice(from, end), 'latin1'), end };
  const bytes = Buffer.allocUnsafe(text.length - from);
  let length = 0;
  for (end = from; text.charCodeAt(end) !== QUOTE; ) {
    const code = text.charCodeAt(end++);
    if (code !== BACKSLASH) {
      bytes[length++] = code;
      continue;
    }
    const sign = text[end] ?? '';
    const octal = sign >= '0' && sign <= '7' ? (/^[0-7]{1,3}/.exec(text.slice(end, end + 3))?.[0] ?? '') : '';
    bytes[length++] = octal === '' ? (NAMED[sign] ?? sign.charCodeAt(0)) : Number.parseInt(octal, 8);
    end += Math.max(1, octal.length);
  }
  return { bytes: Buffer.from(bytes.subarray(0, length)), end };
}
