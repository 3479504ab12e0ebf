import { createLoadBody, type LoadBody, type LoadBodyOptions } from './load-body.ts';
import { createLoadConnection, type LoadConnection } from './load-connection.ts';

/** A connection with bodies of its own: one request at a time. */
export interface LoadSender {
  connection: LoadConnection;
  bodies: LoadBody[];
}

export interface LoadSendersOptions extends Omit<LoadBodyOptions, 'host'> {
  url: URL;
  connections: number;
  bodiesEach: number;
  /** For one response. */
  timeoutMs?: number;
}

/** No two bodies of them have the same keys. */
export function createLoadSenders(options: LoadSendersOptions): LoadSender[] {
  const { url, connections, bodiesEach, timeoutMs } = options;
  const bodyOf = (number: number) => {
    const keyPrefix = `${options.keyPrefix}${number.toString(36)}-`;
    return createLoadBody({ ...options, host: url.host, seed: options.seed + number, keyPrefix });
  };
  return Array.from({ length: connections }, (_, sender) => ({
    connection: createLoadConnection(url, timeoutMs),
    bodies: Array.from({ length: bodiesEach }, (__, body) => bodyOf(sender * bodiesEach + body)),
  }));
}
