import { describe, expect, it } from 'vitest';
import { wordBreaches } from './words.ts';

describe('a private word', () => {
  it.each([
    ['a comment', '/** The door of the teller. */', ['door', 'teller']],
    ['a message', "'Postgres is away'", ['is away']],
    ['an identifier', 'if (isAway) setAside(openDoor());', ['is away', 'set aside', 'door']],
    ['a constant', 'const PUT_OFFS_MAX = 3;', ['put offs']],
    ['a type', 'interface Shelved {}', ['shelved']],
    ['the beginning of a sentence', 'Whoever asks', ['whoever']],
  ])('in %s is a breach that names its replacement', (_, line, words) => {
    const found = wordBreaches({ path: 'infra/a.ts', text: `\n${line}\n` });
    expect(found.map((breach) => /says "(.+)", use: \S/.exec(breach)?.[1]).sort()).toEqual(words.sort());
    expect(found.every((breach) => breach.startsWith('infra/a.ts:2: '))).toBe(true);
  });

  it.each([
    ['part of another word', 'const understood = nothing.indoors;'],
    ['a stored name', "UPDATE entitlements_told SET told = $1; throw new Transient('insert_gate_lost');"],
    ['a name in quotes', "accountNamed('nobody') ?? url('postgres://nobody@127.0.0.1')"],
    ['an error of the system', 'connection refused, ECONNREFUSED'],
    ['the name of a mutant', '// mutant: resumed-range-believed'],
    ['the marker of a migration', '-- standstill'],
    ['the name of a stored job', "const JOB = 'entitlement-teller';"],
  ])('is no breach as %s', (_, line) => {
    expect(wordBreaches({ path: 'infra/a.ts', text: line })).toEqual([]);
  });

  it.each([
    'CHANGELOG.md',
    'tests/mutants/a.ts',
    'tests/faults/upgrade/fixtures/a.ts',
    'docs/reliability-runs.md',
    'infra/a.sql',
  ])('is allowed in %s', (path) => {
    expect(wordBreaches({ path, text: 'whoever' })).toEqual([]);
  });
});
