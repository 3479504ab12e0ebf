import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  type CreateFront,
  type RunningFront,
  startFront,
} from '../../infra/ports/conformance/front-under-test.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createForwarder, type ForwarderOptions } from './forward.ts';

/** A front that forwards everything. */
export async function startForwarder(
  createFront: CreateFront,
  options: Omit<ForwarderOptions, 'log'> & Partial<Pick<ForwarderOptions, 'log'>>,
  limits: Parameters<typeof startFront>[2] = {},
): Promise<RunningFront> {
  const forwarder = createForwarder({ log: SILENT, ...options });
  onTestFinished(() => forwarder.close());
  return await startFront(createFront, forwarder.forward, limits);
}

const stops = new Map<string, () => Promise<void>>();

/** The control plane's place is taken by a real server that does what the test wants. */
export async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stops.set(url, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  onTestFinished(() => stop(url));
  return url;
}

export async function stop(url: string): Promise<void> {
  await stops.get(url)?.();
}
