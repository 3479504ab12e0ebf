import { type WatchedStream, watchStream } from './watch-stream.ts';

/** The live stream of usage. */
export interface WatchedUsage extends WatchedStream {
  /** Of the events, in the order in which they came. */
  ids(): string[];
  /** Of each `sampled`. */
  leftOut(): number[];
}

/** Resolves with the head of the response. `url` is the operation's, with its query. */
export async function watchLiveUsage(url: string, key: string): Promise<WatchedUsage> {
  const stream = await watchStream(url, { authorization: `Bearer ${key}` });
  const dataOf = (name: string) =>
    stream.messages.flatMap(({ event, data }) => (event === name ? [data] : []));
  return {
    ...stream,
    ids: () => dataOf('usage').map(({ id }) => id),
    leftOut: () => dataOf('sampled').map(({ leftOut }) => leftOut),
  };
}
