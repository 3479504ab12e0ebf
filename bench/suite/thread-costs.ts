import { readdirSync, readFileSync } from 'node:fs';

/** CPU of one thread so far, in microseconds, by the count of the scheduler. */
export interface ThreadTime {
  thread: number;
  name: string;
  micros: number;
}

export interface ThreadCosts {
  /** Adds what each has taken since the last time, to the name that it has now. */
  add(times: readonly ThreadTime[]): void;
  /** Microseconds by name. */
  byName(): Record<string, number>;
}

const LOOK_EVERY_MS = 100;

/** What each took before the first look is left out. */
export function createThreadCosts(first: readonly ThreadTime[]): ThreadCosts {
  const last = new Map(first.map(({ thread, micros }) => [thread, micros]));
  const byName = new Map<string, number>();
  return {
    add(times) {
      for (const { thread, name, micros } of times) {
        const before = last.get(thread) ?? 0;
        // A number is used again: a thread that has taken less than before is another one.
        const spent = micros >= before ? micros - before : micros;
        byName.set(name, (byName.get(name) ?? 0) + spent);
        last.set(thread, micros);
      }
    },
    byName: () => Object.fromEntries([...byName].sort(([, a], [, b]) => b - a)),
  };
}

/**
 * CPU of a process by thread from now on, looked at ten times a second: a thread changes its name, and what
 * one takes between the last look and its end is missing here.
 */
export function watchThreads(pid: number): { byName(): Record<string, number>; stop(): void } {
  const costs = createThreadCosts(threadTimes(pid));
  const look = () => costs.add(threadTimes(pid));
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    byName() {
      look();
      return costs.byName();
    },
    stop: () => clearInterval(timer),
  };
}

function threadTimes(pid: number): ThreadTime[] {
  return listOrNone(`/proc/${pid}/task`).flatMap((text) => {
    try {
      const folder = `/proc/${pid}/task/${text}`;
      const [nanos] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
      const thread = Number(text);
      return [{ thread, name: nameOf(pid, thread, folder), micros: Number(nanos) / 1_000 }];
    } catch {
      // It ended between the listing and the reading.
      return [];
    }
  });
}

function listOrNone(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function nameOf(pid: number, thread: number, folder: string): string {
  if (thread === pid) return 'main';
  const name = readFileSync(`${folder}/comm`, 'utf8').trim();
  return name === 'node' ? 'node workers' : name;
}
