import { createHash } from 'node:crypto';

/**
 * Ids of a feed's events: `<process>.<set of customers>.<position>`. A position means nothing to another
 * process, nor for other customers: a client that brings such an id gets everything.
 */
export interface FeedPositions {
  /** Of the names that a viewer asks for; undefined: those that were checked lately. */
  ofNames(names: readonly string[] | undefined): string;
  idOf(set: string, position: number): string;
  /** Up to where a client has had everything; -1: nowhere. */
  read(set: string, id: string | undefined): number;
}

export function createFeedPositions(process: string): FeedPositions {
  return {
    ofNames: (names) => (names === undefined ? 'seen' : hashOf(names)),
    idOf: (set, position) => `${process}.${set}.${position.toString(36)}`,
    read(set, id = '') {
      const [ofProcess, ofSet, position = ''] = id.split('.');
      if (ofProcess !== process || ofSet !== set || !/^[0-9a-z]{1,11}$/.test(position)) return -1;
      return Number.parseInt(position, 36);
    },
  };
}

function hashOf(names: readonly string[]): string {
  const text = JSON.stringify([...names].sort());
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}
