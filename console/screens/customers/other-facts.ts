import { words } from '../../design/figures.ts';

/**
 * Fields of a response that a screen has no place of its own for, by their names in words: what the API gains
 * later is shown without a change here. Objects and lists are left out.
 */
export function otherFacts(fields: object): Array<readonly [name: string, value: string]> {
  return Object.entries(fields).flatMap(([field, value]: [string, unknown]) => {
    if (value === null || value === undefined || typeof value === 'object') return [];
    return [[words(field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)), String(value)]];
  });
}
