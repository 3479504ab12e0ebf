import type { Logger } from 'pino';
import { EXIT } from '../infra/platform/exit-code.ts';
import type { ReadyMessage } from './roles/role-process.ts';
import { type ChildSpec, superviseChild } from './supervised-child.ts';

export interface SupervisorOptions {
  /** Stopped in this order, one after the other: those that take requests before those that serve them. */
  children: ChildSpec[];
  log: Logger;
  /** Once, when each child has been ready, with what each reported last. */
  onReady: (messages: ReadonlyMap<string, ReadyMessage>) => void;
}

export interface Supervisor {
  /** The exit code for this process, when every child has ended for good. */
  readonly done: Promise<number>;
  /** Has the children drain; `done` resolves with 0. */
  stop(): void;
  /** SIGKILL for all of them; `done` resolves with 1. */
  force(): void;
}

/** Keeps the children running until it is stopped, or one is given up: then the others stop too. */
export function startSupervisor({ children, log, onReady }: SupervisorOptions): Supervisor {
  const messages = new Map<string, ReadyMessage>();
  let announced = false;
  let stopping = false;
  let exitCode: number = EXIT.stopped;
  let finish: (exitCode: number) => void;
  const done = new Promise<number>((resolve) => {
    finish = resolve;
  });

  const supervised = children.map((spec) =>
    superviseChild(spec, {
      log,
      onReady: (message) => {
        messages.set(spec.name, message);
        if (messages.size < children.length) return;
        for (const child of supervised)
          child.notify({ type: 'all-ready', ready: Object.fromEntries(messages) });
        if (announced) return;
        announced = true;
        onReady(messages);
      },
      onGivenUp: (code) => {
        log.fatal({ child: spec.name, exitCode: code }, 'a process ended and starting it again cannot help');
        void stopAll(code);
      },
    }),
  );

  async function stopAll(code: number): Promise<void> {
    if (stopping) return;
    stopping = true;
    exitCode = code;
    for (const child of supervised) await child.stop();
    finish(exitCode);
  }

  function force(): void {
    exitCode = EXIT.failed;
    for (const child of supervised) child.force();
  }

  return { done, stop: () => void stopAll(EXIT.stopped), force };
}
