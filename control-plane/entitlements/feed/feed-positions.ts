import { createHash } from 'node:crypto';

/**
 * Ids of a feed's events: `<process>.<set of customers>.<position>`. A position means nothing to another
 * process, nor for other customers or another environment: a client that brings such an id gets everything.
 */
export interface FeedPositions {
  /**
   * Of the names that a viewer asks for, or of those that were checked lately: then by a number that is
   * another one once any of them is forgotten.
   */
  setOf(environment: string, customers: readonly string[] | number): string;
  idOf(set: string, position: number): string;
  /** Up to where a client has had everything; -1: nowhere. */
  read(set: string, id: string | undefined): number;
}

export function createFeedPositions(process: string): FeedPositions {
  return {
    setOf: (environment, customers) =>
      typeof customers === 'number'
        ? `seen-${customers.toString(36)}-${hashOf([environment])}`
        : hashOf([environment, ...[...customers].sort()]),
    idOf: (set, position) => `${process}.${set}.${position.toString(36)}`,
    read(set, id = '') {
      const [ofProcess, ofSet, position = ''] = id.split('.');
      if (ofProcess !== process || ofSet !== set || !/^[0-9a-z]{1,11}$/.test(position)) return -1;
      return Number.parseInt(position, 36);
    },
  };
}

function hashOf(names: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(names)).digest('base64url').slice(0, 12);
}
