import { describe, expect, it } from 'vitest';
import { parseUrl } from './parse-url.ts';

describe('a url', () => {
  it('is read, or undefined where it cannot be', () => {
    expect(parseUrl('https://example.com/hooks')?.hostname).toBe('example.com');
    expect(parseUrl('https://bücher.example/')?.hostname).toBe('xn--bcher-kva.example');
    expect(parseUrl('example.com/hooks')).toBeUndefined();
    expect(parseUrl('')).toBeUndefined();
  });

  /* Mutant: `URL.canParse`. Some 5,000 calls later V8 has compiled the caller, and it returns false. */
  it('is read the same in a process that has read many', () => {
    const wrong = Array.from({ length: 50_000 }, () => parseUrl('https://bücher.example/')).filter(
      (url) => url?.hostname !== 'xn--bcher-kva.example',
    );
    expect(wrong).toEqual([]);
  });
});
