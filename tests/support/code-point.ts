import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;
const CODE_POINT_MAX = 0x10ffff;

/**
 * Any character of Unicode, as a unit of texts: `fc.string({ unit: CODE_POINT })`. The texts of a seed are
 * those of fast-check's own unit `binary`, which keeps a map of all 1.1 million characters for as long as the
 * process lives: 85 MB that every major collection marks, and 0.7 s to make.
 */
export const CODE_POINT: fc.Arbitrary<string> = fc
  .nat({ max: CODE_POINT_MAX - SURROGATES })
  .map(characterAt, placeOf);

function characterAt(place: number): string {
  return String.fromCodePoint(place < SURROGATES_FROM ? place : place + SURROGATES);
}

/** Throws for what is no single character, as fast-check asks of it. */
function placeOf(text: unknown): number {
  const codePoint = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (codePoint !== undefined) {
    const place = codePoint < SURROGATES_FROM ? codePoint : codePoint - SURROGATES;
    if (characterAt(place) === text) return place;
  }
  throw new Error('not one character');
}
