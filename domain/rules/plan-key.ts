/** Keys for a new plan of this name, the most readable first; `random` makes one that is unique. */
export function* planKeys(name: string, random: () => string): Generator<string, never> {
  const slug = slugOf(name);
  yield slug;
  for (let number = 2; number <= NUMBERED_MAX; number += 1) yield `${slug}-${number}`;
  while (true) yield `${slug}-${random()}`;
}

/** Beyond so many plans of one name a number is no longer readable. */
const NUMBERED_MAX = 9;
/** Leaves room for what makes it unique within 128 characters. */
const SLUG_CHARS_MAX = 64;
/** For a name without a single letter or digit that ASCII has. */
const NAMELESS = 'plan';

/**
 * Lower-case ASCII words joined by `-`, usable unchanged in paths, headers and source code. Letters lose
 * their accents; letters of other scripts are left out.
 */
function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[ßæœøđłþðı]/g, (letter) => UNDIVIDED[letter] ?? '')
    .replace(/(?![a-z0-9])[\p{L}\p{M}\p{N}]/gu, '');
  const words = plain.match(/[a-z0-9]+/g) ?? [NAMELESS];
  return words.join('-').slice(0, SLUG_CHARS_MAX).replace(/-$/, '');
}

/** Latin letters that Unicode does not divide into a letter and its mark. */
const UNDIVIDED: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ł: 'l',
  þ: 'th',
  ð: 'd',
  ı: 'i',
};
