import { describe, expect, it } from 'vitest';
import type { PrivateTargets } from '../../infra/platform/private-targets.ts';
import { Rejected } from '../../schemas/failures.ts';
import { checkWebhookUrl } from './webhook-url.ts';

/*
 * Mutants this suite catches: the names of loopback left out; the brackets left on; credentials checked in
 * `username` alone.
 */
function isTaken(url: string, targets: PrivateTargets): boolean {
  try {
    checkWebhookUrl(url, targets);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(Rejected);
    expect((error as Rejected).rejection).toMatchObject({ code: 'invalid_request', param: 'url' });
    return false;
  }
}

const takenWith = (url: string) => [isTaken(url, 'none'), isTaken(url, 'loopback'), isTaken(url, 'all')];

describe('the url of a webhook endpoint', () => {
  it.each([
    'https://example.com/hooks?a=b',
    'HTTPS://EXAMPLE.com:8443',
    'https://93.184.216.34/',
    'https://[2606:4700:4700::1111]/x',
    'https://bücher.example/',
    'https://localhost.example.com/',
    'https://10.example.com/',
  ])('may be %s', (url) => {
    expect(takenWith(url)).toEqual([true, true, true]);
  });

  it.each([
    'http://example.com/',
    'https://10.0.0.8/',
    'http://10.0.0.8:3000/hooks',
    'https://0.0.0.0/',
    'https://0/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:a00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'http://localhost.example.com/',
    'http://93.184.216.34/',
  ])('is %s only where private addresses are allowed', (url) => {
    expect(takenWith(url)).toEqual([false, false, true]);
  });

  it.each([
    'https://127.0.0.1/',
    'http://127.0.0.1:3000/hooks',
    'http://127.9.9.9/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://[::1]/',
    'http://[::1]:3000/',
    'https://[::ffff:127.0.0.1]/',
    'https://localhost/',
    'http://localhost:3000/',
    'https://LOCALHOST./',
    'https://a.b.localhost:444/',
  ])('is %s where loopback or more is allowed', (url) => {
    expect(takenWith(url)).toEqual([false, true, true]);
  });

  it.each([
    'https://169.254.169.254/latest/meta-data',
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::]/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'https://168.63.129.16/',
  ])('is never %s', (url) => {
    expect(takenWith(url)).toEqual([false, false, false]);
  });
});

describe('what is no such url', () => {
  it.each([
    'example.com/hooks',
    '//example.com',
    '/hooks',
    'https:///',
    'https://',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:password@example.com/',
    'https://exa mple.com/',
    ' https://example.com/',
    'https://example.com/\n',
    'ht\ttps://example.com/',
    'https://example.com:99999/',
    'https://[::1/',
    'https://[fe80::1%25eth0]/',
    'https:example.com',
    'https:/example.com',
    'https:///example.com',
    'https:\\\\example.com',
    'https://example.com\\@127.0.0.1/',
    'https://@example.com/',
    'https://:@example.com/',
    'https://example.com:0/',
    'https://256.256.256.256/',
  ])('is rejected: %j', (url) => {
    expect(takenWith(url)).toEqual([false, false, false]);
  });
});
