import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { curlOf } from './curl.ts';

/** What a shell makes of the command, one argument a line. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }; METERGATE_KEY=sk_test_1; ${command}`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

it('is the request, with the key as a variable of the shell', () => {
  const path = '/api/v1/customers?q=a%20b';
  const command = curlOf({ method: 'GET', path }, 'http://127.0.0.1:8080');
  expect(command).not.toContain('sk_');
  const url = `http://127.0.0.1:8080${path}`;
  expect(argumentsOf(command)).toEqual([url, '-H', 'Authorization: Bearer sk_test_1']);
});

/** Red without quoting: a name of a customer would be run by the shell. */
it('gives a shell every text as it is', () => {
  const body = { reason: `it's $(date) \`id\` "now" \\ !` };
  const headers = { 'If-Match': '"a\'b"' };
  const request = { method: 'PUT', path: '/api/v1/x', body, headers };
  const shown = argumentsOf(curlOf(request, 'http://localhost'));
  expect(shown).toContain('If-Match: "a\'b"');
  expect(JSON.parse(shown.at(-1) ?? '')).toEqual(body);
});
