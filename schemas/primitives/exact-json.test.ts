import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CODE_POINT } from '../../tests/support/code-point.ts';
import {
  beginExactJson,
  canonicalJson,
  exactJson,
  exactNumber,
  faultyText,
  numberText,
  parseExact,
} from './exact-json.ts';

// Mutants this suite catches: Number() on the way; recursion; names printed unescaped; undefined fields
// printed.
const soundText = fc
  .string({ unit: CODE_POINT })
  .filter((text) => text.isWellFormed() && !text.includes('\u0000'));
const json = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 4 })
  .filter((value) => faultyText(value) === undefined);

describe('exactJson', () => {
  it('prints what JSON.stringify prints where no number is marked', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(exactJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('prints the same in parts', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 5 }), (value, values) => {
        const print = beginExactJson(value);
        let text = print(values);
        while (text === undefined) text = print(values);
        expect(text).toBe(exactJson(value));
      }),
    );
    const print = beginExactJson([1, [2, 3]]);
    expect([print(2), print(1), print(1)]).toEqual([undefined, undefined, '[1,[2,3]]']);
  });

  it('prints a marked number by its own text', () => {
    const text = '123456789.000000000001';
    expect(exactJson({ value: exactNumber(text), list: [exactNumber('-0.10')] })).toBe(
      `{"value":${text},"list":[-0.10]}`,
    );
  });

  it('leaves undefined fields out, and prints a Map in its own order', () => {
    expect(
      exactJson({
        a: undefined,
        b: new Map<string, unknown>([
          ['2', 1],
          ['1', true],
        ]),
      }),
    ).toBe('{"b":{"2":1,"1":true}}');
  });

  it('prints nothing bare that is no number, even behind a mark', () => {
    expect(() => exactNumber('1}')).toThrow(TypeError);
    expect(exactJson(['\u00001,"injected":2'])).toBe('["\\u00001,\\"injected\\":2"]');
  });

  it('takes any depth and any length', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    expect(exactJson(deep)).toHaveLength(400_001);
    expect(exactJson(Array(500_000).fill(0))).toHaveLength(1_000_001);
  });
});

describe('parseExact', () => {
  it('keeps the text of every number, and everything else as JSON.parse has it', () => {
    const number = fc
      .tuple(fc.bigInt(), fc.stringMatching(/^\d{0,20}$/), fc.stringMatching(/^([eE][+-]?\d{1,4})?$/))
      .map(
        ([integer, fraction, exponent]) => `${integer}${fraction === '' ? '' : `.${fraction}`}${exponent}`,
      );
    fc.assert(
      fc.property(soundText, number, soundText, (name, text, other) => {
        const parsed = parseExact(`{${JSON.stringify(`${name}!`)}: [${text}, ${JSON.stringify(other)}]}`);
        const [first, second] = (parsed as Record<string, unknown[]>)[`${name}!`] ?? [];
        expect(numberText(first)).toBe(text);
        expect(second).toBe(other);
      }),
    );
  });
});

describe('canonicalJson', () => {
  it('is one text for one value however it is written', () => {
    const one = canonicalJson('{"b":[1.50,1e2,-0],"a":{"y":null,"x":"\\u0041"}}');
    expect(canonicalJson(' { "a" : {"x":"A", "y":null}, "b":[1.5, 100.0, 0.0]} ')).toBe(one);
  });

  it('distinguishes numbers that are the same double', () => {
    expect(canonicalJson('[9007199254740993]')).not.toBe(canonicalJson('[9007199254740992]'));
    expect(canonicalJson('[1e400]')).not.toBe(canonicalJson('[1e401]'));
    expect(canonicalJson('["1"]')).not.toBe(canonicalJson('[1]'));
  });
});

describe('faultyText', () => {
  it('finds NUL and lone surrogates in names and values at any depth', () => {
    for (const bad of ['\u0000', 'a\ud800', '\udc00b']) {
      expect(faultyText({ a: [1, { b: bad }] })).toBe(bad);
      expect(faultyText([[{ [bad]: 1 }]])).toBe(bad);
    }
    expect(faultyText({ a: ['💡', null, 1, true] })).toBeUndefined();
  });
});
