import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { correctBinary, REVIEWED_BINARIES } from './corrected-uws.mjs';

const PACKAGE = join('node_modules', 'uWebSockets.js');
/** The installation leaves out those of other platforms (packages.mjs). */
const NAMES = Object.keys(REVIEWED_BINARIES).filter((name) => existsSync(join(PACKAGE, name)));

function installed(name: string): Buffer {
  return readFileSync(join(PACKAGE, name));
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Red when one of them is left out of an installation that would run it. */
test('every reviewed binary of this platform is installed', () => {
  const own = Object.keys(REVIEWED_BINARIES).filter((name) =>
    name.includes(`${process.platform}_${process.arch}_`),
  );
  expect(NAMES).toEqual(expect.arrayContaining(own));
});

/** Red when a hash of either side is not looked at. */
test.each(NAMES)('%s is the one that was reviewed, and corrected to what was reviewed', (name) => {
  const reviewed = REVIEWED_BINARIES[name];
  expect(sha256(installed(name))).toBe(reviewed?.installed);
  expect(sha256(correctBinary(name, installed(name)))).toBe(reviewed?.corrected);
});

test.each(NAMES)('another %s than the reviewed one is rejected, with both hashes', (name) => {
  const other = installed(name);
  other.writeUInt8(other.readUInt8(other.length - 1) ^ 1, other.length - 1);
  const both = new RegExp(`${sha256(other)}.*${REVIEWED_BINARIES[name]?.installed}`);
  expect(() => correctBinary(name, other)).toThrow(both);
});

test('a binary that was not reviewed is not corrected', () => {
  expect(() => correctBinary('uws_linux_x64_999.node', Buffer.alloc(1))).toThrow('not reviewed');
});

/** Red when the notice of an older binary is kept. */
test('docs/operate/security.md names every binary with both hashes', () => {
  const text = readFileSync('docs/operate/security.md', 'utf8');
  for (const [name, { installed: before, corrected }] of Object.entries(REVIEWED_BINARIES)) {
    expect(text).toContain(`| \`${name}\``);
    expect(text).toContain(before);
    expect(text).toContain(corrected);
  }
});
