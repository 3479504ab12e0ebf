/** Private words and their replacement: each has a term of the field that a newcomer knows. */
const WORDS: Array<[word: RegExp, use: string]> = [
  [
    /(?<!-)\btellers?\b|\b(is|are|was|were|be|been|who|unless) told\b|\btold (of|to|by|about|from)\b/,
    'notify',
  ],
  [/\bdoors?\b/, 'check fast path, health server or port'],
  [/\bplain engine\b/, 'js engine'],
  [/\bshel(f|ves|ved)\b/, 'LRU cache, cached'],
  [/\bthings?\b/, 'the name of the entry'],
  [/\bput[ -]?offs?\b/, 'backoff'],
  [/\bcompanions?\b/, 'produce batcher'],
  [/\bfair (gate|share)\b|\bmayHold\b/, 'tenant semaphore or partition assignment'],
  [/\blook-ups?\b/, 'query or circuit breaker'],
  [/\bgather(s|ed|ing|er)?\b/, 'collect or batch'],
  [/\blanes?\b/, 'endpoint queue or connection'],
  [/(?<!-- )\bstand[ -]?stills?\b|\bisStill\b/, 'pause, paused'],
  [/\bstood\b|\bstands? (in|on|under|beside|behind|there|still)\b/, 'is'],
  [/\bbeside\b/, 'next to, as well as, concurrently'],
  [/\binsert gate\b/, 'insert lock'],
  [/\b(make|makes|made) whole\b/, 'repair block'],
  [/\bmend(s|ed|ing)?\b/, 'repair'],
  [/\bset(s|ting)? aside\b/, 'quarantine, detach or dead letter'],
  [/\bwhereabouts\b/, 'endpoint discovery'],
  [/\bbirth marks?\b|\blog birth\b|\byoung store\b/, 'topic identity, store epoch or mayHaveLostKeys'],
  [/(?<!['`])\bholdings\b(?!['`])/, 'customer grants'],
  [/\b(hears?|heard|hearing)\b/, 'receive, invalidate'],
  [/\bobstacles?\b/, 'blockers'],
  [/\bjudge checks\b/, 'health checks'],
  [/\bstorms?\b/, 'workload'],
  [/\bscenes?\b/, 'scenario'],
  [/\bballast\b/, 'filler'],
  [/\bhostile\b/, 'fuzz'],
  [/\b(is|are|was|were|be|set) away\b|\bAWAY\b/, 'unavailable'],
  [/\bpast one machine\b/, 'distributed'],
  [/\brefusals?\b/, 'rejection or error'],
  [/(?<!connection )(?<!connection is )\brefus(e|es|ed|ing)\b/, 'reject'],
  [/\banswer(s|ed|ing)?\b/, 'response, respond'],
  [/\bremembered\b/, 'cached or kept'],
  [/\bbeliev(e|es|ed)\b/, 'trust'],
  [/\bwhoever\b/, 'the name of the actor'],
  [/(?<!['"`/_-])\b(nobody|somebody|everybody|anybody)\b(?!['"`@-])/, 'the name of the actor'],
  [/\banew\b/, 'again'],
  [/\bfor ever\b/, 'forever'],
  [/\bmoments?\b/, 'time'],
  [/\blets? go\b/, 'release'],
];

/** Uses that are right, as `path word`: why. */
const ALLOWED = new Map([
  ['tests/faults/changes/change-rounds.ts things', 'the title of a promise, in results of earlier releases'],
  ['docs/contribute/fault-tests.md answer', 'the name of a figure in results of earlier releases'],
  ['tests/faults/promise.ts answer', 'the same'],
  ['tests/faults/upgrade/fixture.ts answered', 'the name of a field in a kept fixture'],
  ['tests/operate/systemd-unit.test.ts refuses', 'of another program'],
]);

/** Written by programs, from texts that have a place of their own. */
const GENERATED = /^docs\/reliability-(mutants|runs)\.md$/;
const NAMES_THE_WORDS = /^tools\/tidy\/words(\.test)?\.ts$/;
const EXCEPT = /^(CHANGELOG\.md|THIRD_PARTY\.md|tests\/mutants\/|bench\/results\/)|(^|\/)fixtures?\//;

interface WordFile {
  path: string;
  text: string;
}

/** Private words in sources and documents, as `path:line: what`. */
export function wordBreaches({ path, text }: WordFile): string[] {
  if (!isRead(path)) return [];
  return text.split('\n').flatMap((line, at) => {
    const words = asWords(line);
    return WORDS.flatMap(([word, use]) => {
      const found = (word.exec(words) ?? word.exec(withoutMutants(line)))?.[0];
      if (found === undefined || ALLOWED.has(`${path} ${found}`)) return [];
      return [`${path}:${at + 1}: says "${found}", use: ${use}`];
    });
  });
}

function isRead(path: string): boolean {
  const isException = EXCEPT.test(path) || GENERATED.test(path) || NAMES_THE_WORDS.test(path);
  return /\.(tsx?|mjs|md)$/.test(path) && !isException;
}

/**
 * Identifiers as words: `setAside` and `SET_ASIDE`. Names with `_` in lower case are stored ones. Names of
 * mutants stay: documents and results of earlier runs have them.
 */
function asWords(line: string): string {
  return withoutMutants(line)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/(?<=[A-Z0-9])_(?=[A-Z0-9])/g, ' ')
    .toLowerCase();
}

function withoutMutants(line: string): string {
  return line.replace(/\/[/*] mutants?: .*/, '');
}
