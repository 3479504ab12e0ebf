import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Manifest {
  license?: string;
  dependencies?: Record<string, string>;
}

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Its package.json names ISC; the LICENSE file, which counts, is that of the original. */
const BY_ITS_FILE: Record<string, string> = { 'uWebSockets.js': 'Apache-2.0' };

/** Red when a package is added, or changes its license, and the notice does not name it. */
test('THIRD_PARTY.md names every package that Metergate runs with, and its license', () => {
  const notice = readFileSync('THIRD_PARTY.md', 'utf8');
  const rooms = ['.', 'console'];
  for (const name of rooms.flatMap((room) => Object.keys(manifest(room).dependencies ?? {}))) {
    const license = BY_ITS_FILE[name] ?? manifest(join('node_modules', name)).license;
    expect(notice.replace(/ +/g, ' '), name).toContain(`| ${name} | ${license} |`);
  }
});

/** Red when one of the two is edited alone. */
test('the samples of proxies are those of the documentation', () => {
  const text = readFileSync('docs/operate/proxies.md', 'utf8');
  for (const name of ['nginx.conf', 'Caddyfile']) {
    expect(text).toContain(`\n${readFileSync(join('infra/deploy', name), 'utf8')}\`\`\`\n`);
  }
});
