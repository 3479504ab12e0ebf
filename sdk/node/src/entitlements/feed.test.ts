import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listenUntil } from '../../../../tests/support/listen.ts';
import { createClient } from '../client/client.ts';
import { createMeter } from '../meter/meter.ts';
import { createEntitlements, type EntitlementsOptions } from './check.ts';

const WAIT = { timeout: 10_000, interval: 5 };
const OPEN = 'event: begin\ndata: {"now":"2026-01-01T00:00:00.000Z"}\n\n';
const TIME = 'event: time\ndata: {"asOf":"2026-01-01T00:00:00.000Z"}\n\n';

type Open = (stream: ServerResponse, names: string[], request: IncomingMessage) => void;

function decision(current: number): object {
  const amounts = { type: 'metered', effectiveValue: 10, current, sources: ['plan:pro'] };
  return { allowed: true, reason: '…', reasonCode: 'granted', customerId: 'c', featureKey: 'f', ...amounts };
}

function customer(name: string, current = 0): string {
  const features = [{ meterId: 'm', decision: decision(current) }];
  const facts = {
    customerId: `cus_${name}`,
    asked: name,
    status: 'active',
    otherwise: 'feature_not_included',
  };
  const data = JSON.stringify({ ...facts, credits: { balance: 0, unpaid: 0 }, features });
  return `event: customer\ndata: ${data}\n\n`;
}

const ready = (id: string) => `id: ${id}\nevent: ready\ndata: {}\n\n`;

/** Tells of all customers, with this much used, and then of the time. */
const all =
  (current = 0): Open =>
  (stream, names) => {
    stream.write(OPEN + names.map((name) => customer(name, current)).join('') + ready('p.s.1'));
    const timer = setInterval(() => stream.write(TIME), 50);
    stream.once('close', () => clearInterval(timer));
  };

/** A feed that does as its script says, the last step again and again; checks that it counts. */
async function serve(...script: Open[]) {
  const opened: Array<{ names: string[]; lastEventId: unknown }> = [];
  const streams: ServerResponse[] = [];
  const seen = { checks: 0 };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1');
    if (!url.pathname.endsWith('/feed')) {
      seen.checks += 1;
      response.end(JSON.stringify(decision(0)));
      return;
    }
    const names = (url.searchParams.get('customerIds') ?? '').split(',').map(decodeURIComponent);
    opened.push({ names, lastEventId: request.headers['last-event-id'] });
    streams.push(response);
    const open = script.length > 1 ? script.shift() : script[0];
    response.setHeader('content-type', 'text/event-stream');
    open?.(response, names, request);
  });
  const { url } = await listenUntil(onTestFinished, server);
  return { url, opened, streams, seen };
}

function open(url: string, options: Partial<EntitlementsOptions> = {}) {
  const codes: string[] = [];
  const client = createClient({ url, apiKey: 'k' });
  const onError = ({ code }: { code: string }) => void codes.push(code);
  const entitlements = createEntitlements({ client, isLocal: true, onError, ...options });
  onTestFinished(() => entitlements.close());
  const check = async (customerId: string, requested?: number) => {
    const amount = requested === undefined ? {} : { requested };
    const { source, allowed } = await entitlements.check({ customerId, featureKey: 'f', ...amount });
    return [source, allowed];
  };
  const isLocal = (name: string, requested?: number, allowed = true) =>
    vi.waitFor(async () => expect(await check(name, requested)).toEqual(['local', allowed]), WAIT);
  return { check, codes, isLocal };
}

it('asks for a customer once, and then knows it; names of any kind', async () => {
  const server = await serve(all());
  const { check, isLocal } = open(server.url);
  expect(await check('a,b ü%')).toEqual(['server', true]);
  await isLocal('a,b ü%');
  const { checks } = server.seen;
  expect(await check('a,b ü%', 11)).toEqual(['local', false]);
  expect(server.seen.checks).toBe(checks);
  await isLocal('second');
  expect(server.opened.at(-1)?.names.sort()).toEqual(['a,b ü%', 'second']);
  await vi.waitFor(() => expect(server.streams[0]?.destroyed).toBe(true), WAIT);
});

it('counts what its own meter has tracked at once, so that a burst cannot pass a limit', async () => {
  const server = await serve(all(3));
  const meter = createMeter({ url: 'http://127.0.0.1:9', apiKey: 'k', onError: () => undefined });
  onTestFinished(async () => void (await meter.close({ timeoutMs: 0 })));
  const { check, isLocal } = open(server.url, { meter });
  await isLocal('a');
  for (let at = 0; at < 20; at++) {
    expect(await check('a')).toEqual(['local', at < 7]);
    // By turns under each of its names.
    if (at < 7) meter.track({ customerId: at % 2 ? 'a' : 'cus_a', meterId: 'm', value: 1 });
  }
  expect(await check('a', 0)).toEqual(['local', true]);
});

it('resumes where it was, and is what the server says then', async () => {
  const server = await serve(all(), (stream) => stream.end(customer('a', 9)), all(4));
  const { isLocal, codes } = open(server.url);
  await isLocal('a', 10);
  server.streams[0]?.destroy();
  await vi.waitFor(() => expect(server.opened).toHaveLength(3), WAIT);
  await isLocal('a', 6);
  await isLocal('a', 7, false);
  expect(server.opened.map(({ lastEventId }) => lastEventId)).toEqual([undefined, 'p.s.1', 'p.s.1']);
  expect(codes).toContain('feed_interrupted');
});

it('decides nothing by a stream that is silent or does not say that it is whole', async () => {
  const server = await serve((stream, names) => {
    stream.write(names.map((name) => customer(name)).join(''));
  });
  const { check } = open(server.url, { timeoutMs: 500 });
  await check('a');
  await vi.waitFor(() => expect(server.opened).toHaveLength(1), WAIT);
  // The client has read the customer within these turns, and still does not decide by it.
  for (let turn = 0; turn < 20; turn += 1) {
    server.streams[0]?.write(customer('a'));
    expect(await check('a')).toEqual(['server', true]);
    await setTimeout(10);
  }
  server.streams[0]?.write(ready('p.s.1'));
  await vi.waitFor(async () => expect(await check('a')).toEqual(['local', true]), WAIT);
  await vi.waitFor(async () => expect(await check('a')).toEqual(['server', true]), WAIT);
});

it.each<[string, Open]>([
  ['HTML', (stream) => stream.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
  ['a redirect', (stream) => stream.writeHead(302, { location: '/x' }).end()],
  ['a missing scope', (stream) => stream.writeHead(403).end('{}')],
  ['an event that is not JSON', (stream) => stream.end('event: customer\ndata: {"asked"\n\n')],
  ['a customer of another form', (stream) => stream.write(`event: customer\ndata: {"asked":"a"}\n\n${TIME}`)],
  ['an event without an end', (stream) => stream.write('x'.repeat(9 * 2 ** 20))],
])('has the server asked where there is %s instead of a feed', async (_, open1) => {
  const server = await serve(open1);
  const { check } = open(server.url);
  await check('a');
  await vi.waitFor(() => expect(server.opened.length).toBeGreaterThan(0), WAIT);
  expect(await check('a')).toEqual(['server', true]);
});

it('follows no more customers than it may, in streams of 500', async () => {
  const server = await serve(all());
  const { check, isLocal } = open(server.url, { customersMax: 501, timeoutMs: 10_000 });
  for (let at = 0; at < 505; at += 101) {
    await Promise.all(Array.from({ length: 101 }, (_, more) => check(`c${at + more}`)));
  }
  await isLocal('c500');
  const named = () => new Set(server.opened.flatMap(({ names }) => names)).size;
  await vi.waitFor(() => expect(named()).toBe(501), WAIT);
  expect(Math.max(...server.opened.map(({ names }) => names.length))).toBe(500);
  expect(await check('c503')).toEqual(['server', true]);
});

it.each([
  ['half a surrogate pair', 'a\ud800'],
  ['U+0000', 'a\u0000'],
  ['more characters than a name has', 'x'.repeat(129)],
  ['nothing', ''],
  ['no text', 42 as never],
])('a check of %s is rejected by itself, and other customers are followed after it', async (_, name) => {
  const server = await serve(all());
  const { check, isLocal } = open(server.url);
  const rejection = { name: 'ApiError', code: 'invalid_request', param: 'customerId' };
  await expect(check(name)).rejects.toMatchObject(rejection);
  expect(await check('a')).toEqual(['server', true]);
  await isLocal('a');
  expect(server.opened.flatMap(({ names }) => names)).toEqual(['a']);
});

it('decides nothing by a feed that something in between delays', async () => {
  const server = await serve((stream, names) => {
    stream.write(OPEN + names.map((name) => customer(name)).join('') + ready('p.s.1'));
  });
  const { check, isLocal } = open(server.url);
  const openedAtMs = performance.now();
  await isLocal('a');
  const say = (msAgo: number): void => {
    const ms = Date.parse('2026-01-01T00:00:00.000Z') + performance.now() - openedAtMs - msAgo;
    const time = new Date(ms).toISOString();
    server.streams[0]?.write(`event: time\ndata: {"asOf":"${time}","now":"${time}"}\n\n`);
  };
  const decidedAfter = async (msAgo: number, source: string) =>
    await vi.waitFor(async () => {
      say(msAgo);
      expect(await check('a')).toEqual([source, true]);
    }, WAIT);
  await decidedAfter(8_000, 'server');
  await decidedAfter(0, 'local');
  await decidedAfter(8_000, 'server');
});

it('a page without an end in place of the feed is not read to it', async () => {
  let isEnded = false;
  const server = await serve((stream) => {
    stream.writeHead(200, { 'content-type': 'text/html' });
    const timer = setInterval(() => stream.write('x'.repeat(10_000)), 1);
    stream.once('close', () => {
      clearInterval(timer);
      isEnded = true;
    });
  });
  const { check, codes } = open(server.url);
  await check('a');
  // Far sooner than a connection that is silent.
  await vi.waitFor(() => expect(isEnded).toBe(true), { timeout: 8_000, interval: 5 });
  await vi.waitFor(() => expect(codes).toContain('unexpected_response'), WAIT);
});
