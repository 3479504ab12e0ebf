import { describe, expect, it } from 'vitest';
import { isLoopbackHost, mayConnectTo, targetsOf } from './private-targets.ts';

/*
 * Mutants that turn it red: `all` takes every address; only the plain forms of 169.254.0.0/16 are checked;
 * `loopback` takes private addresses; live environments are treated like test ones.
 */
const NEVER = [
  '169.254.0.1',
  '169.254.169.254',
  '169.254.170.2',
  '169.254.255.255',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fe80::1',
  'fe80::1%eth0',
  'febf:ffff::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::a9fe:a9fe',
  '::ffff:0:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::169.254.170.2',
  '64:ff9b:1::a9fe:a9fe',
  '64:ff9b:1:a9fe:a9:fe00::',
  '64:ff9b:1:ffa9:fe:a9fe::',
  '64:ff9b:1:ff:a9:fea9:fe00:0',
  '2002:a9fe:a9fe::',
  '2002:a9fe:a9fe::1',
  '2002:a83f:8110::1',
  '2001:0:0:0:0:0:5601:5601',
  '2001:0:a9fe:a9fe::1',
  '2606:4700::5efe:a9fe:a9fe',
  'fd00::200:5efe:a9fe:a9fe',
];

const PRIVATE = ['10.0.0.8', '100.64.0.1', '172.16.0.1', '192.168.0.1', 'fc00::1', 'fd12:3456::1'];
const LOOPBACK = ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1'];
const PUBLIC = ['93.184.216.34', '2606:4700:4700::1111', '2606:4700::a9fe:a9fe', '168.63.129.17'];

describe('an address', () => {
  it.each(NEVER)('%s is never connected to, whatever is allowed', (address) => {
    for (const targets of ['none', 'loopback', 'all'] as const) {
      expect([targets, mayConnectTo(address, targets)]).toEqual([targets, false]);
    }
  });

  it.each(PUBLIC)('%s is always connected to', (address) => {
    for (const targets of ['none', 'loopback', 'all'] as const) {
      expect(mayConnectTo(address, targets)).toBe(true);
    }
  });

  it.each(PRIVATE)('%s is connected to only where all is allowed', (address) => {
    expect(['none', 'loopback', 'all'].map((targets) => mayConnectTo(address, targets as 'all'))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each(LOOPBACK)('%s is connected to where loopback is allowed', (address) => {
    expect(['none', 'loopback', 'all'].map((targets) => mayConnectTo(address, targets as 'all'))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it.each(['0.0.0.0', '::', '::7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::', '::ffff:0:7f00:1'])(
    '%s is no loopback address, though it may lead to one',
    (address) => {
      expect(mayConnectTo(address, 'loopback')).toBe(false);
    },
  );

  it.each(['', 'localhost', 'example.com', '[::1]'])('%j is none', (text) => {
    expect(mayConnectTo(text, 'all')).toBe(false);
  });
});

describe('loopback', () => {
  it('is of test environments alone', () => {
    expect(targetsOf('loopback', 'ws_1:test')).toBe('loopback');
    expect(targetsOf('loopback', 'ws_1:live')).toBe('none');
    expect([targetsOf('all', 'ws_1:live'), targetsOf('none', 'ws_1:test')]).toEqual(['all', 'none']);
  });

  it('has names too', () => {
    expect(['localhost', 'LOCALHOST.', 'a.localhost', '127.3.4.5', '::1'].map(isLoopbackHost)).toEqual(
      Array(5).fill(true),
    );
    expect(['localhost.example.com', 'mylocalhost', '128.0.0.1'].map(isLoopbackHost)).toEqual(
      Array(3).fill(false),
    );
  });
});
