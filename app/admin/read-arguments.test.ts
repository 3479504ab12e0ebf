import { describe, expect, it } from 'vitest';
import { adminUsage, readArguments, UsageFault } from './read-arguments.ts';

/* Seen red with: an option of another command taken in silence; an unknown scope let through. */
const NOW_MS = Date.UTC(2026, 0, 1);
const read = (line: string) => readArguments(line.split(' ').filter(Boolean), NOW_MS);

describe('the arguments of the admin command', () => {
  it('name a workspace to be made, also with spaces in its name', () => {
    expect(readArguments(['workspace', 'create', '--name', 'Acme & Söhne', '--json'], NOW_MS)).toEqual({
      act: 'workspace create',
      name: 'Acme & Söhne',
      json: true,
    });
  });

  it('describe a key', () => {
    const line = 'key create --workspace ws_a --mode live --kind secret --scopes usage:write,plans:read';
    expect(read(line)).toEqual({
      act: 'key create',
      workspace: 'ws_a',
      mode: 'live',
      kind: 'secret',
      scopes: ['usage:write', 'plans:read'],
      more: { name: null, expiresAt: null },
      json: false,
    });
    expect(read(`${line} --name CI --expires-at 2026-02-01T00:00:00+01:00`)).toMatchObject({
      more: { name: 'CI', expiresAt: new Date('2026-01-31T23:00:00Z') },
    });
    const publishable = 'key create --workspace ws_a --mode test --kind publishable';
    expect(read(publishable)).toMatchObject({ scopes: [] });
  });

  it('name what to list and what to revoke', () => {
    expect(read('workspace list')).toEqual({ act: 'workspace list', json: false });
    expect(read('key list --workspace ws_a --json')).toMatchObject({ act: 'key list', workspace: 'ws_a' });
    expect(read('key revoke --key key_a')).toMatchObject({ act: 'key revoke', key: 'key_a' });
  });

  // Red where --help is an unknown option, exit 2.
  it('request help, for everything or for some commands, whatever else is missing', () => {
    for (const line of ['--help', '-h', 'help']) expect(read(line)).toEqual({ act: 'help', words: '' });
    for (const line of ['key create --help', 'key create --mode live -h', 'help key create']) {
      expect(read(line)).toEqual({ act: 'help', words: 'key create' });
    }
    expect(adminUsage()).toMatch(
      /workspace create --name NAME\n[\s\S]*key revoke --key KEY[\s\S]*Exit codes: 0 done/,
    );
    expect(adminUsage('workspace')).toMatch(/workspace create[\s\S]*workspace list/);
    expect(adminUsage('workspace')).not.toContain('key');
    expect(adminUsage('workspace drop')).toBe(adminUsage());
  });

  const SECRET = 'key create --workspace ws_a --mode live --kind secret';
  const wrong: Array<[line: string, message: RegExp]> = [
    ['', /Name a command/],
    ['workspace', /no command `workspace`/],
    ['workspace delete --name a', /no command `workspace delete`/],
    ['constructor', /no command `constructor`/],
    ['workspace create', /--name is missing/],
    [`workspace create --name ${'x'.repeat(201)}`, /1 to 200 characters/],
    ['workspace create --name \u00a0', /not only white space/],
    ['workspace create --name a --mode live', /takes no --mode/],
    ['workspace create --nme a', /--nme/],
    ['workspace list --json=yes', /--json/],
    ['key create --mode live --kind secret --scopes *', /--workspace is missing/],
    [SECRET, /--scopes is missing/],
    [`${SECRET} --scopes plans:own`, /no `plans:own`/],
    [`${SECRET} --scopes plans:read,`, /no ``/],
    [`${SECRET} --scopes * --expires-at 2025-01-01T00:00:00Z`, /in the future/],
    ['key create --workspace ws_a --mode prod --kind secret --scopes *', /live or test/],
    ['key create --workspace ws_a --mode live --kind root --scopes *', /secret or publishable/],
    ['key create --workspace ws_a --mode live --kind publishable --scopes *', /has no --scopes/],
    ['key revoke', /--key is missing/],
  ];
  it.each(wrong)('are rejected: %s', (line, message) => {
    expect(() => read(line)).toThrow(UsageFault);
    expect(() => read(line)).toThrow(message);
  });
});
