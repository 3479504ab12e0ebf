import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const START = fileURLToPath(new URL('./start.mjs', import.meta.url));
const CONTAINER = fileURLToPath(new URL('../infra/deploy/docker-entrypoint.sh', import.meta.url));

function run(program: string, args: string[]) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000 });
  return { status, stdout, stderr };
}

// Red where --help is the name of a role, exit 2, and where words behind a role are passed over in silence.
it('the entry points explain themselves on request, exit 0, and when misused, exit 2', () => {
  for (const args of [['--help'], ['-h'], ['ingest', '--help']]) {
    const requested = run(process.execPath, [START, ...args]);
    expect(requested).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: npm start/),
      stderr: '',
    });
  }
  for (const args of [['ingst'], ['ingest', 'x']]) {
    const misused = run(process.execPath, [START, ...args]);
    const message = new RegExp(`^There is no \`${args.at(-1)}\` to be started\\.\nUsage: npm start`);
    expect(misused).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(message) });
  }
  expect(run('sh', [CONTAINER, '--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Usage: metergate ROLE/),
  });
  expect(run('sh', [CONTAINER, 'ingst']).status).toBe(2);
});
