import type { Logger } from 'pino';

/** How many connections are open. One line in the log when the bound is reached, until there is room. */
export interface ConnectionCount {
  /** False: one too many. It counts until it is closed all the same. */
  opened(): boolean;
  closed(): void;
}

export function createConnectionCount(connectionsMax: number, log: Logger): ConnectionCount {
  let open = 0;
  let notified = false;

  return {
    opened: () => {
      open += 1;
      if (open <= connectionsMax) return true;
      if (!notified) log.warn({ connectionsMax }, 'too many connections: new ones are closed');
      notified = true;
      return false;
    },
    closed: () => {
      open -= 1;
      if (open < connectionsMax) notified = false;
    },
  };
}
