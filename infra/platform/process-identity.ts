import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Identifies a process. A pid alone is not enough: it is reused after the process has ended, so files keep
 * pid and start time.
 */
export interface ProcessIdentity {
  pid: number;
  /** In words that only this machine since its last boot understands; '' when it is unknown. */
  start: string;
}

const onLinux = process.platform === 'linux';
/** A zombie, and one that is being reaped (proc(5)). */
const DEAD_STATES = ['Z', 'X'];
/** By a signal, and by a debugger. */
const PAUSED_STATES = ['T', 't'];

export function identityOf(pid: number): ProcessIdentity {
  return { pid, start: startOf(pid) };
}

/**
 * True while that very process lives. A zombie is dead: where no parent reaps it, it keeps its pid forever.
 */
export function isLiving(identity: ProcessIdentity): boolean {
  return isAlive(identity.pid) && (identity.start === '' || startOf(identity.pid) === identity.start);
}

export function isAlive(pid: number): boolean {
  if (!isPid(pid)) return false;
  // Its state is read first: a zombie that is reaped between the two reads has no state.
  const state = onLinux ? statFields(pid)[0] : undefined;
  if (state !== undefined && DEAD_STATES.includes(state)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** False where the machine does not show it. */
export function isPaused(pid: number): boolean {
  return PAUSED_STATES.includes(statFields(pid)[0] ?? '');
}

/** The folder a process works in; undefined where the machine does not show it. */
export function workingDirectoryOf(pid: number): string | undefined {
  try {
    return onLinux ? readlinkSync(`/proc/${pid}/cwd`) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined where the machine does not show it. */
export function parentOf(pid: number): number | undefined {
  return Number(statFields(pid)[1]) || undefined;
}

/** The name of its program, at most 15 characters; '' where the machine does not show it. */
export function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Its command line with blanks between the arguments; '' where the machine does not show it. */
export function commandOf(pid: number): string {
  if (!onLinux) return psOf(pid, 'command=');
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** Sends a signal; false when the process does not exist. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return isPid(pid) && process.kill(pid, name);
  } catch {
    return false;
  }
}

/** To kill(2) zero and below are whole groups of processes, our own among them. */
function isPid(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid > 0;
}

function startOf(pid: number): string {
  if (onLinux) return statFields(pid)[19] ?? '';
  return psOf(pid, 'lstart=');
}

/** A column of ps(1), whole: by default ps cuts off text that is wider than a terminal. */
function psOf(pid: number, column: string): string {
  return spawnSync('ps', ['-ww', '-o', column, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

/** The fields of /proc/<pid>/stat from `state` on (proc(5) counts it as the third; starttime is the 22nd). */
function statFields(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in brackets, and may itself hold brackets and blanks.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
