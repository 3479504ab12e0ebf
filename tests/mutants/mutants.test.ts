import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { applyMutant, MisfitMutant } from './apply-mutant.ts';
import { readMarks } from './marked-places.ts';
import { kindOf } from './mutant.ts';
import { MUTANTS } from './mutant-list.ts';
import { type MutantRow, mutant } from './mutant-row.ts';
import { hasTest } from './proof-titles.ts';
import { isOfPython } from './python-mutants.ts';
import { isSeenByRunOf, RUNS } from './seen-by-run.ts';
import { variablesIn } from './variables.ts';

/** Of this release; others have mutants before all of them is promised. */
const NUMBERS = Array.from({ length: 11 }, (_, at) => at + 1);

/** Of the product, and of the JavaScript made of it. */
const SOURCE = `
// Why.
// mutant: gone, more
await flush(file);
const isLate = (one) => one.late || /* mutant: unsure */ !one.isSure;
// mutant: open
if (closed && done) stop();
publish({
  // mutant: part
  at: { end },
  from,
});
const SQL = \`SELECT a FROM b\`;
`;

describe('a mutant', () => {
  const row = (name: string) => mutant(name, [1]).why('nothing is durable');
  const flush = 'await flush(file);';

  it.each<[what: string, MutantRow, from: string, to: string]>([
    ['removes a statement', row('gone').drop('a'), flush, ';'],
    ['removes a member', row('part').drop('a'), 'at: { end },', ''],
    ['makes an expression false', row('unsure').never('a'), '!one.isSure', 'false'],
    ['makes a condition true', row('open').always('a'), 'closed && done', 'true'],
    ['replaces a statement', row('more').is('a', 'flush(file);'), flush, 'flush(file);'],
    ['adds code before a statement', row('gone').before('a', 'end();'), flush, `end(); ${flush}`],
    ['adds code behind a statement', row('gone').after('a', 'end();'), flush, `${flush} end();`],
    ['replaces a part of a statement', row('open').swap('a', 'done', '!done'), '&& done', '&& !done'],
    ['changes what is declared', row('sql').swap('a#SQL', 'FROM b', 'FROM c'), 'FROM b', 'FROM c'],
  ])('%s', (_, one, from, to) => {
    expect(applyMutant('a.ts', SOURCE, one.mutant)).toBe(SOURCE.replace(from, to));
    expect(applyMutant('a.js', SOURCE, one.mutant)).toBe(SOURCE.replace(from, to));
  });

  it('moves a statement behind the next one', () => {
    const moved = applyMutant(
      'a.js',
      '// mutant: early\nfreeze();\ninsert();',
      row('early').later('a').mutant,
    );
    expect(moved).toBe('// mutant: early\ninsert();\nfreeze();');
  });

  it.each<[what: string, MutantRow, source?: string]>([
    ['has no marker', row('lost').drop('a')],
    ['has two markers', row('gone').drop('a'), SOURCE.replace('mutant: open', 'mutant: gone')],
    ['has a marker with no code behind it', row('end').drop('a'), '{ // mutant: end\n}'],
    ['names nothing declared', row('sql').swap('a#CQL', 'a', 'b')],
    ['swaps what is not there', row('gone').swap('a', 'sync', 'flush')],
    ['adds to the lone body of an if', row('lone').after('a', 'b();'), 'if (a) /* mutant: lone */ c();'],
    ['makes false what is no condition', row('gone').never('a')],
    ['moves the last statement', row('last').later('a'), '// mutant: last\nend();'],
  ])('that %s is an error that names it', (_, one, source = SOURCE) => {
    expect(() => applyMutant('a.ts', source, one.mutant)).toThrow(MisfitMutant);
    expect(() => applyMutant('a.ts', source, one.mutant)).toThrow(
      `The mutant ${one.mutant.name} does not fit a:`,
    );
  });
});

describe('the list of mutants', () => {
  const ofModules = MUTANTS.filter((one) => !isOfPython(one));

  it.each(ofModules.map((one) => [one.name, one] as const))(
    '%s fits its module, which stays one',
    (_, one) => {
      const path = `${one.module}.ts`;
      const text = readFileSync(path, 'utf8');
      const broken = applyMutant(path, text, one);
      expect(broken).not.toBe(text);
      // What cannot be loaded is red for any test, and for no reason.
      expect(parseSync(path, broken, { showSemanticErrors: true }).errors).toEqual([]);
      // Nor is a name that the module does not have: a ReferenceError is red for any test as well.
      const known = variablesIn(path, text);
      const { used, declared } = variablesIn(path, broken);
      const isKnown = (name: string) => known.used.has(name) || declared.has(name) || name in globalThis;
      expect([...used].filter((name) => !isKnown(name))).toEqual([]);
    },
  );

  it('has each name once, and a test or a run that goes red for each', () => {
    const names = MUTANTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const unproved = MUTANTS.filter(({ provedBy, shownBy }) => provedBy.length === 0 && !shownBy);
    expect(unproved.map(({ name }) => name)).toEqual([]);
  });

  it('names each proof of a mutant once', () => {
    const doubled = MUTANTS.filter(({ provedBy }) => {
      return new Set(provedBy.map(({ test, title }) => `${test} ${title}`)).size < provedBy.length;
    });
    expect(doubled.map(({ name }) => name)).toEqual([]);
  });

  it('names proofs that are there', () => {
    const lost = MUTANTS.flatMap(({ name, provedBy }) => {
      const gone = provedBy.filter(({ test, title }) => !hasTest(test, title));
      return gone.map(({ test, title }) => `${name}: ${test} has no "${title}"`);
    });
    expect(lost).toEqual([]);
  });

  it('finds a title that a table fills in, and no other row of it', () => {
    const titled = (point: string) => `${point} is followed by one that counts every event once`;
    expect(hasTest('aggregator/load/load.store.test.ts', titled('before the insert'))).toBe(true);
    expect(hasTest('aggregator/load/load.store.test.ts', titled('before the freeze'))).toBe(false);
  });

  it('has a mutant for each marker of the product, and says why', () => {
    const marked = ROOMS.flatMap(sourcesIn).flatMap((path) => {
      const text = readFileSync(path, 'utf8');
      return text.includes('mutant:') ? readMarks(path, text).marks.map(({ name }) => `${path} ${name}`) : [];
    });
    const byMarker = ofModules.filter(({ declaration }) => declaration === undefined);
    expect(marked.sort()).toEqual(byMarker.map(({ name, module }) => `${module}.ts ${name}`).sort());
    expect(MUTANTS.filter(({ why }) => why === '')).toEqual([]);
  });

  it('is that of docs/reliability-mutants.md, promise by promise, apart by whose test turns red', () => {
    const promises = new Set([...NUMBERS, ...MUTANTS.flatMap((one) => one.promises)]);
    const kept = MUTANTS.flatMap((one) => {
      return one.promises.map((promise) => {
        return `${promise} ${isSeenByRunOf(one, promise) ? 'its own' : 'another'}: ${one.name}`;
      });
    });
    expect(rowsOf(readFileSync(PAGE, 'utf8')).sort()).toEqual(kept.sort());
    expect([...promises].filter((one) => !MUTANTS.some((each) => each.promises.includes(one)))).toEqual([]);
  });

  it('has a promise for each test of processes that a mutant names', () => {
    const tests = MUTANTS.flatMap(({ provedBy }) => provedBy.filter((one) => kindOf(one) === 'processes'));
    expect(new Set(tests.map(({ test }) => test))).toEqual(new Set(Object.keys(RUNS)));
  });
});

const ROOMS = [
  'schemas',
  'infra',
  'domain',
  'ingest',
  'aggregator',
  'control-plane',
  'delivery',
  'app',
  'sdk/node/src',
];

function sourcesIn(room: string): string[] {
  const names = readdirSync(room, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => `${room}/${name}`);
}

const PAGE = 'docs/reliability-mutants.md';

/** Each promise that the page names in one of the last two columns of a mutant's row, and in which. */
function rowsOf(document: string): string[] {
  const rows = document.matchAll(/^\| `([a-z-]+)` \|.* \| ([\d, –]+) \| ([\d, –]+) \|$/gm);
  return [...rows].flatMap(([, name, own = '', others = '']) => [
    ...numbersIn(own).map((promise) => `${promise} its own: ${name}`),
    ...numbersIn(others).map((promise) => `${promise} another: ${name}`),
  ]);
}

function numbersIn(column: string): string[] {
  return column.match(/\d+/g) ?? [];
}
