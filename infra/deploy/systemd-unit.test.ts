import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readEnv, toConfig } from '../../app/config/config.ts';
import { EXIT, isFinal } from '../platform/exit-code.ts';
import { OPEN_FILES_MIN } from '../platform/open-files-limit.ts';

const unit = readFileSync('infra/deploy/metergate.service', 'utf8');

function setting(name: string): string {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
}

it('the unit allows the open files that the default settings need', () => {
  const { connectionsMax } = toConfig(readEnv({})).ingest;
  expect(Number(setting('LimitNOFILE'))).toBeGreaterThanOrEqual(connectionsMax + OPEN_FILES_MIN);
});

it('the unit restarts on every exit code but those that an operator has to act on', () => {
  const final = Object.values(EXIT).filter(isFinal);
  expect(setting('RestartPreventExitStatus').split(' ').map(Number)).toEqual(final);
  expect(setting('Restart')).toBe('on-failure');
});

/** Red with less: systemd would end by force what is still draining. */
it('the unit waits longer than a stop takes', () => {
  expect(Number.parseInt(setting('TimeoutStopSec'), 10)).toBeGreaterThan(15);
});

it('the unit starts a program that the build makes, and stores data where it may write', () => {
  const [, program = ''] = /\/opt\/metergate\/dist\/(\S+)\.js/.exec(setting('ExecStart')) ?? [];
  expect(existsSync(`${program}.ts`)).toBe(true);
  expect(setting('Environment')).toContain(`DATA_DIR=/var/lib/${setting('StateDirectory')}`);
});
