import { describe, expect, it } from 'vitest';
import { Rejected } from '../schemas/failures.ts';
import { checkWebhookUrl } from './webhook-url.ts';

/*
 * Breaks that turn it red: the names of loopback left out; the brackets left on; credentials looked at in
 * `username` alone.
 */
function isTaken(url: string, allowPrivate: boolean): boolean {
  try {
    checkWebhookUrl(url, { allowPrivate });
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(Rejected);
    expect((error as Rejected).refusal).toMatchObject({ code: 'invalid_request', param: 'url' });
    return false;
  }
}

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
    expect([isTaken(url, false), isTaken(url, true)]).toEqual([true, true]);
  });

  it.each([
    'http://example.com/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://10.0.0.8/',
    'https://169.254.169.254/latest/meta-data',
    'https://0.0.0.0/',
    'https://0/',
    'https://[::1]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.b.localhost:444/',
  ])('is %s only where private addresses are allowed', (url) => {
    expect([isTaken(url, false), isTaken(url, true)]).toEqual([false, true]);
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
  ])('is refused: %j', (url) => {
    expect([isTaken(url, false), isTaken(url, true)]).toEqual([false, false]);
  });
});
