import type { Client } from 'pg';
import { onTestFinished } from 'vitest';
import { connectClient } from './with-client.ts';

/** A connection that the running test keeps. It may be broken at the end. */
export async function testClient(url: string): Promise<Client> {
  const client = await connectClient(url);
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}
