import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testFolder } from '../support/test-folder.ts';

/** Of 100; 1.9 of 10 when it was written. */
const EXPOSURE_MAX = 25;

it('systemd accepts the unit, and finds it hardened', () => {
  const unit = readFileSync('infra/deploy/metergate.service', 'utf8');
  const file = join(testFolder(), 'metergate.service');
  // The Node.js of this machine: systemd refuses a program that does not exist.
  writeFileSync(file, unit.replace('ExecStart=/usr/bin/node', `ExecStart=${process.execPath}`));
  expect(analyze('verify', file)).toBe('');
  analyze('security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, file);
});

function analyze(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}
