import { expect, it, onTestFinished } from 'vitest';
import { responseOf } from './response-of.ts';
import { sharedKafka, sharedRedis } from './shared-url.ts';
import { startKafka } from './start-kafka.ts';
import { startRedis } from './start-redis.ts';

const portOf = (url: string) => Number(url.split(':').at(-1));

async function redisWith(command: string, port: number): Promise<string | undefined> {
  return (await responseOf(port, Buffer.from(`${command}\r\n`)))?.toString();
}

it('a key store keeps its keys through a kill, and loses them when it is wiped', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const port = portOf(redis.url);
  expect(await redisWith('SET key kept', port)).toBe('+OK\r\n');
  await redis.kill();
  expect(await redisWith('GET key', port)).toBeUndefined();
  await redis.restart();
  expect(await redisWith('GET key', port)).toBe('$4\r\nkept\r\n');
  await redis.restart({ wiped: true });
  expect(await redisWith('GET key', port)).toBe('$-1\r\n');
});

it('a paused key store sends no response until it is resumed', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  await redis.pause();
  expect(await redisWith('PING', portOf(redis.url))).toBeUndefined();
  await redis.resume();
  expect(await redisWith('PING', portOf(redis.url))).toBe('+PONG\r\n');
});

it('a broker comes back on its address after a kill, and after its data was wiped', async () => {
  const kafka = await startKafka();
  onTestFinished(() => kafka.stop());
  await kafka.kill();
  await kafka.restart();
  await kafka.restart({ wiped: true });
});

it('all tests of a run are given the same servers', async () => {
  expect(await sharedKafka()).toBe(await sharedKafka());
  expect(await sharedRedis()).toBe(await sharedRedis());
});
