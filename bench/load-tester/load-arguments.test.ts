import { describe, expect, it } from 'vitest';
import { Unusable } from '../read-options.ts';
import { readLoadArguments } from './load-arguments.ts';

const KEY = ['--key', 'sk_test_x'];

describe('the arguments of a load', () => {
  it('need nothing but a key', () => {
    expect(readLoadArguments(KEY, {})).toMatchObject({
      key: 'sk_test_x',
      rate: 10_000,
      batch: 500,
      replays: 0.2,
      connections: 8,
      gzip: false,
      durationMs: 30_000,
    });
  });

  it('take the key from the environment, and the one given ahead of it', () => {
    expect(readLoadArguments([], { METERGATE_KEY: 'sk_a' }).key).toBe('sk_a');
    expect(readLoadArguments(KEY, { METERGATE_KEY: 'sk_a' }).key).toBe('sk_test_x');
  });

  it.each([
    ['10m', 600_000],
    ['45s', 45_000],
    ['1.5', 1_500],
    ['500ms', 500],
    ['1h', 3_600_000],
  ])('read a duration of %s', (text, ms) => {
    expect(readLoadArguments([...KEY, '--duration', text], {}).durationMs).toBe(ms);
  });

  // Fault this catches: Number('') is 0 and Number('1e9') a billion.
  it.each([
    ['--rate', ''],
    ['--rate', '0'],
    ['--rate', '-5'],
    ['--rate', '1e99'],
    ['--batch', '501'],
    ['--batch', '1.5'],
    ['--replays', '1'],
    ['--properties', '33'],
    ['--connections', '0'],
    ['--duration', '0s'],
    ['--duration', '3 weeks'],
    ['--url', 'localhost:8080'],
    ['--url', 'ftp://localhost'],
    ['--url', 'http://localhost/api/v1'],
    ['--key', 'two words'],
    ['--speed', '9'],
  ])('reject %s %j in one line', (name, value) => {
    const read = () => readLoadArguments([...KEY, name, value], {});
    expect(read).toThrow(Unusable);
    expect(read).toThrow(/^[^\n]+$/);
  });

  it('require a key', () => {
    expect(() => readLoadArguments([], {})).toThrow(/^no key/);
  });
});
