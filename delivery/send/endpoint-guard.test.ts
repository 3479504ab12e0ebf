import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../app/roles/certificate-under-test.ts';
import { INTERNAL_ADDRESSES } from '../../infra/platform/internal-addresses-under-test.ts';
import type { PrivateTargets } from '../../infra/platform/private-targets.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { listenAsReceiver, receiverOfThisFile, requestTo, startRawReceiver } from '../receiver-under-test.ts';
import { INTERNAL_HOSTS } from './internal-hosts-under-test.ts';
import { type Attempt, createSend } from './send.ts';

/*
 * Promise 15: nothing of the inside is reached. Behind every address that is not one of the two below listens
 * `inside`, and counts. An attacker controls the resolver of the names; a connection to a name would resolve
 * it again, as sockets do. Seen red with the mutants address-checked-before-fetched-after,
 * first-address-checked-alone and names-checked-and-literals-not (tests/mutants/delivery-mutants.ts).
 */
const PUBLIC = ['93.184.216.34', '2606:4700:4700::1111'] as const;

let respond: RequestListener;
let reached: string[];
/** The resolver's results, one after the other; the last one stays. */
let notified: string[][];

const inside = await receiverOfThisFile(
  startRawReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')),
);
const server = createServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (...call) => respond(...call));
const outside = await receiverOfThisFile(listenAsReceiver(server));
const sender = createSend({
  log: SILENT,
  resolve,
  connect: (options, callback) => connectThroughTheMap(options, callback),
});
afterAll(() => sender.close());

beforeEach(() => {
  reached = [];
  respond = (_, response) => response.end('ok');
});

async function resolve(): Promise<string[]> {
  return (notified.length > 1 ? notified.shift() : notified[0]) ?? [];
}

const connectLocally = buildConnector({ ca: CERTIFICATE });

const connectThroughTheMap: buildConnector.connector = (options, callback) => {
  void addressOf(options.hostname).then((address) => {
    reached.push(address);
    const { port } = (PUBLIC as readonly string[]).includes(address) ? outside : inside;
    connectLocally({ ...options, hostname: '127.0.0.1', port: String(port) }, callback);
  });
};

async function addressOf(hostname: string): Promise<string> {
  return isIP(hostname) === 0 ? ((await resolve())[0] ?? '') : hostname;
}

function attempt(url: string, privateTargets: PrivateTargets = 'none'): Promise<Attempt> {
  return sender.send(requestTo(url, { privateTargets }));
}

async function expectNothingReached(attempts: Array<Promise<Attempt>>): Promise<void> {
  for (const one of await Promise.all(attempts)) {
    expect(one).toMatchObject({ outcome: 'failed', errorCode: expect.stringMatching(/^(address|url)_not_/) });
  }
  expect(reached).toEqual([]);
  expect(inside.connections()).toBe(0);
}

describe('promise 15: an attempt', () => {
  it('to 60 and more ways to write an internal address reaches nothing', async () => {
    expect(new Set(INTERNAL_HOSTS).size).toBeGreaterThanOrEqual(60);
    const ports = ['', `:${inside.port}`];
    const urls = INTERNAL_HOSTS.flatMap((host) => ports.map((port) => `https://${host}${port}/hooks`));
    await expectNothingReached(urls.map((url) => attempt(url)));
  });

  it.each(INTERNAL_ADDRESSES)('to a name that has the address %s reaches nothing', async (address) => {
    notified = [[address]];
    await expectNothingReached([attempt('https://receiver.example/')]);
  });

  it('of a name with one address of the inside among others reaches nothing', async () => {
    for (const address of INTERNAL_ADDRESSES) {
      notified = [[PUBLIC[0], address, PUBLIC[1]]];
      await expectNothingReached([attempt('https://receiver.example/')]);
    }
  });

  it('of a name that resolves to another address the second time reaches nothing', async () => {
    notified = [[PUBLIC[0]], ['127.0.0.1']];
    expect(await attempt('https://receiver.example/')).toMatchObject({ outcome: 'succeeded' });
    expect(reached).toEqual([PUBLIC[0]]);
    reached = [];
    // The connection to the public address is still there; its name is no longer good.
    await expectNothingReached([attempt('https://receiver.example/')]);
  });

  it.each([301, 302, 303, 307, 308])('that is redirected inside with %i follows nothing', async (status) => {
    notified = [[PUBLIC[0]]];
    for (const location of [inside.url, `https://127.0.0.1:${inside.port}/`, '//169.254.169.254/latest']) {
      respond = (_, response) => response.writeHead(status, { location }).end();
      const { outcome, errorCode, responseHead } = await attempt('https://receiver.example/');
      expect([outcome, errorCode]).toEqual(['failed', 'status_not_2xx']);
      expect(responseHead).toContain(`location: ${location}`);
    }
    expect(inside.connections()).toBe(0);
  });

  it('to a url that was registered under looser rules reaches nothing', async () => {
    notified = [[PUBLIC[0]]];
    const urls = [
      'http://receiver.example/',
      'https://a:b@receiver.example/',
      'ftp://receiver.example/',
      'x',
    ];
    await expectNothingReached(urls.map((url) => attempt(url)));
  });
});

describe('a connection', () => {
  it('is sent to the address that the name has now, and is kept for the next attempt', async () => {
    notified = [[PUBLIC[1]], [PUBLIC[1]], [PUBLIC[0]]];
    for (let at = 0; at < 3; at += 1) {
      expect((await attempt('https://receiver.example:8443/')).status).toBe(200);
      // It is free again in the next turn of the loop.
      await new Promise(setImmediate);
    }
    expect(reached).toEqual([PUBLIC[1], PUBLIC[0]]);
  });

  it('tries the next address when one rejects it', async () => {
    notified = [['2606:4700:4700::1001', PUBLIC[0]]];
    await inside.close();
    expect(await attempt('https://receiver.example:444/')).toMatchObject({ outcome: 'succeeded' });
    expect(reached).toEqual(['2606:4700:4700::1001', PUBLIC[0]]);
  });

  it('is rejected without a certificate for the name', async () => {
    notified = [[PUBLIC[0]]];
    for (const host of ['other.example', PUBLIC[0], `[${PUBLIC[1]}]`]) {
      expect(await attempt(`https://${host}/`)).toMatchObject({ outcome: 'failed', errorCode: 'tls_failed' });
    }
  });

  it('is rejected with a certificate of an unknown authority', async () => {
    const plain = createSend({ log: SILENT });
    const request = requestTo(`https://127.0.0.1:${outside.port}/`);
    expect(await plain.send(request)).toMatchObject({ errorCode: 'tls_failed' });
    await plain.close();
  });

  it.each(['loopback', 'all'] as const)(
    'may be loopback, and without TLS, where %s is allowed',
    async (may) => {
      const plain = createSend({ log: SILENT });
      const receiver = await startRawReceiver((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
      for (const host of ['127.0.0.1', 'localhost', '2130706433']) {
        const request = requestTo(`http://${host}:${receiver.port}/`, { privateTargets: may });
        expect((await plain.send(request)).outcome).toBe('succeeded');
      }
      await plain.close();
      await receiver.close();
    },
  );
});

describe('an attempt where loopback is allowed', () => {
  // Red when any name may lead there: the owner of a domain could reach every port of this machine.
  it('by a name of the DNS that leads there reaches nothing', async () => {
    notified = [['127.0.0.1'], ['::1']];
    for (const scheme of ['http', 'https']) {
      await expectNothingReached([attempt(`${scheme}://receiver.example/`, 'loopback')]);
    }
  });

  it('reaches no other address of the inside, and no http elsewhere', async () => {
    const others = INTERNAL_ADDRESSES.filter((one) => !/^(127\.|::1$|::ffff:127)/.test(one));
    const hosts = others.map((one) => (one.includes(':') ? `[${one}]` : one));
    const urls = hosts.flatMap((host) => [`https://${host}/`, `http://${host}/`]);
    await expectNothingReached([...urls, `http://${PUBLIC[0]}/`].map((url) => attempt(url, 'loopback')));
  });
});

describe('an attempt where everything private is allowed', () => {
  const link = INTERNAL_ADDRESSES.filter((one) => /169\.254|a9fe|^fe80|ec2/.test(one));

  it('reaches neither a link-local address nor a metadata service, in any form', async () => {
    expect(link.length).toBeGreaterThanOrEqual(8);
    const urls = link.map((one) => `http://${one.includes(':') ? `[${one}]` : one}/latest/meta-data`);
    await expectNothingReached(urls.map((url) => attempt(url, 'all')));
  });

  it.each(link)('reaches nothing by a name that has the address %s', async (address) => {
    notified = [[PUBLIC[0], address]];
    await expectNothingReached([attempt('http://receiver.example/', 'all')]);
  });
});
