/** Names of a request that are compared. A request with more unknown names did not misspell a field. */
const LOOKED_AT_MAX = 50;
const CHARS_MIN = 4;

/** The known name that this one was probably meant to be: `customer_id`, `occuredAt`, `full_name`. */
export function meantName(name: string, known: Iterable<string>): string | undefined {
  const all = [...known];
  return all.find((one) => isSimilar(name, one)) ?? all.find((one) => endsWithWord(name, one));
}

/** Among unknown names the one that was probably meant to be this. */
export function misspelling(known: string, names: Iterable<string>): string | undefined {
  const some: string[] = [];
  for (const name of names) if (some.push(name) === LOOKED_AT_MAX) break;
  return some.find((name) => isSimilar(name, known)) ?? some.find((name) => endsWithWord(name, known));
}

/** The sentence on an unknown name. */
export function notKnown(name: string): string {
  return `The field \`${name}\` is not known.`;
}

/** The end of a sentence on a name that is not known. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const meant = meantName(name, known);
  return meant === undefined ? '' : ` Did you mean \`${meant}\`?`;
}

function isSimilar(name: string, known: string): boolean {
  const [a, b] = [plain(name), plain(known)];
  if (a === b) return name !== known;
  if (Math.abs(a.length - b.length) > 2 || Math.min(a.length, b.length) < CHARS_MIN) return false;
  return distance(a, b) <= (b.length < 8 ? 1 : 2);
}

/** `full_name`, `fullName` and `FULL-NAME` for `name`. */
function endsWithWord(name: string, known: string): boolean {
  const [words, end] = [wordsOf(name), wordsOf(known)];
  return (
    words.length > end.length && known.length >= CHARS_MIN && words.slice(-end.length).join() === end.join()
  );
}

function wordsOf(name: string): string[] {
  if (name.length > 64) return [name];
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[-_ .]+/);
}

function plain(name: string): string {
  return name.length > 64 ? name : name.toLowerCase().replace(/[-_ .]/g, '');
}

/** Edits from one to the other (Levenshtein); of two neighbours that changed places it counts one. */
function distance(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let at = 1; at <= b.length; at++) {
      const replaced = (last[at - 1] ?? 0) + (a[row - 1] === b[at - 1] ? 0 : 1);
      const isSwap = row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
      const swapped = isSwap ? (before[at - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    [before, last] = [last, next];
  }
  return last[b.length] ?? 0;
}
