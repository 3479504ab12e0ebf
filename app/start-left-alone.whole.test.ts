import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { isAlive } from '../infra/platform/process-identity.ts';
import { testFolder } from '../tests/support/test-folder.ts';

const WITHIN = { timeout: 30_000, interval: 20 };
/** As npm runs a script; the start writes its process id to a file. */
const NPM = `
  const { spawn } = require('node:child_process');
  const start = spawn(process.execPath, ['app/start.mjs'], { stdio: ['ignore', 'inherit', 'inherit'] });
  require('node:fs').writeFileSync('start.pid', String(start.pid));
`;
/** An installation that lasts for as long as the test wants. */
const INSTALL = `
  const { existsSync, writeFileSync } = require('node:fs');
  writeFileSync('installing', '');
  setInterval(() => existsSync('install-ends') && process.exit(0), 20);
`;

/** Red when the start continues: it would hold the folder unnoticed. */
test('an npm that is killed while its start installs leaves nothing behind', async () => {
  const tree = testFolder();
  for (const name of [
    'app/start.mjs',
    ...['build', 'packages', 'corrected-uws'].map((tool) => `tools/${tool}.mjs`),
  ]) {
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    copyFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), join(tree, name));
  }
  copyFileSync(
    fileURLToPath(new URL('../package-lock.json', import.meta.url)),
    join(tree, 'package-lock.json'),
  );
  writeFileSync(join(tree, 'install.js'), INSTALL);
  const npm = spawn(process.execPath, ['--eval', NPM], {
    cwd: tree,
    env: { ...process.env, npm_lifecycle_event: 'start', npm_execpath: join(tree, 'install.js') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await vi.waitFor(() => readFileSync(join(tree, 'installing')), WITHIN);
  npm.kill('SIGKILL');
  await once(npm, 'exit');
  writeFileSync(join(tree, 'install-ends'), '');
  const start = Number(readFileSync(join(tree, 'start.pid'), 'utf8'));
  await vi.waitFor(() => expect(isAlive(start)).toBe(false), WITHIN);
  expect(output).toMatch(/The npm that ran this start has ended: it ends, too\.$/m);
  expect(output).not.toContain('Building');
});
