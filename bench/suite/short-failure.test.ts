import { describe, expect, it } from 'vitest';
import { lastWords, shortFailure } from './short-failure.ts';

const folder = ['', 'home', 'someone', 'a-tree'].join('/');

describe('a failure', () => {
  it('is one line without the folders of a machine', () => {
    const message = `ENOENT: no such file, open '${folder}/data/keys.json'\n    at open (${folder}/a.js:1:2)`;
    expect(shortFailure(message)).toBe("ENOENT: no such file, open 'keys.json'");
    expect(shortFailure(`Cannot find file://${folder}/a.js from ${folder}/b.js`)).toBe(
      'Cannot find a.js from b.js',
    );
    expect(shortFailure('nothing responds at http://127.0.0.1:80/api/v1')).toContain(
      'http://127.0.0.1:80/api/v1',
    );
    expect(shortFailure('x'.repeat(5_000))).toHaveLength(300);
  });

  // Fault this catches: the last line of the output, which is the version of Node.
  it('of a process is the last error that it wrote', () => {
    const stderr = `${folder}/a.js:9\n    throw new Error('x');\n    ^\n
Error: waited 5 ms for a broker in ${folder}/kafka\n    at main (${folder}/a.js:9:1)\n\nNode.js v20.20.2\n`;
    expect(lastWords(stderr)).toBe('Error: waited 5 ms for a broker in kafka');
    expect(lastWords('one\ntwo\n')).toBe('two');
    expect(lastWords('')).toBe('it said nothing');
  });
});
