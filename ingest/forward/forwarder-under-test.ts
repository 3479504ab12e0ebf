import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import {
  type CreateFront,
  type RunningFront,
  startFront,
} from '../../infra/ports/conformance/front-under-test.ts';
import { listenUntil } from '../../tests/support/listen.ts';
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
  const { url, close } = await listenUntil(onTestFinished, createServer(listener));
  stops.set(url, close);
  return url;
}

export async function stop(url: string): Promise<void> {
  await stops.get(url)?.();
}
