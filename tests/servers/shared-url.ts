const STARTS_MS = 240_000;

/**
 * `host:port` of the broker that the tests of this run share: TEST_KAFKA_BROKERS, or one that is started when
 * the first asks. Each test takes a topic of its own.
 */
export function sharedKafka(): Promise<string> {
  return named('TEST_KAFKA_BROKERS', 'kafka');
}

/** Of the key store that they share: TEST_REDIS_URL, or one that is started. Each takes its own prefix. */
export function sharedRedis(): Promise<string> {
  return named('TEST_REDIS_URL', 'redis');
}

async function named(variable: string, server: string): Promise<string> {
  const given = process.env[variable];
  if (given) return given;
  const address = process.env.TESTING_SERVERS_URL;
  if (!address) throw new Error('TESTING_SERVERS_URL is not set: is shared-servers.ts a globalSetup?');
  const response = await fetch(`${address}/${server}`, { signal: AbortSignal.timeout(STARTS_MS) });
  const body = await response.text();
  if (!response.ok) throw new Error(`${server}: ${body}`);
  return body;
}
