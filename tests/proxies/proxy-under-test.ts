import { spawn } from 'node:child_process';
import { Registry } from 'prom-client';
import { expect, onTestFinished } from 'vitest';
import { createUwsFront } from '../../infra/http/uws-front.ts';
import { poll } from '../../infra/platform/poll.ts';
import { startFront } from '../../infra/ports/conformance/front-under-test.ts';
import { createForwarder } from '../../ingest/forward/forward.ts';
import { startUpstream } from '../../ingest/forward/forwarder-under-test.ts';
import { createOperations } from '../../ingest/http/operations.ts';
import { endChild, hasEnded } from '../support/child-end.ts';
import { SILENT } from '../support/silent-log.ts';

/** The public port with its operator's pages, and a control plane that reports the requests it received. */
export async function startPublicPort(): Promise<number> {
  const upstream = await startUpstream((req, res) => {
    if (req.url === '/readyz') res.end('{"status":"ready","checks":{}}');
    else if (req.url === '/metrics') res.end('their_metric 1\n');
    else res.end(JSON.stringify({ forwarded: req.url, length: req.headers['content-length'] }));
  });
  const controlUrl = () => upstream;
  const operations = createOperations({ metrics: new Registry(), controlUrl, blockers: () => ({}) });
  const forwarder = createForwarder({ target: controlUrl, log: SILENT });
  onTestFinished(() => forwarder.close());
  const { port } = await startFront(createUwsFront, (exchange) => {
    if (!operations(exchange)) forwarder.forward(exchange);
  });
  return port;
}

interface Proxy {
  command: string;
  args: string[];
  env?: Record<string, string>;
  port: number;
}

/** A proxy's process, until it responds on its port. It ends with the test. */
export async function startProxy({ command, args, env, port }: Proxy): Promise<string> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  onTestFinished(async () => void (await endChild(child, 'SIGTERM')));
  const url = `http://127.0.0.1:${port}`;
  const responses = async () =>
    (await fetch(`${url}/healthz`).catch(() => undefined)) ?? (hasEnded(child) ? 'ended' : undefined);
  const first = await poll(responses, { timeoutMs: 30_000, everyMs: 50 });
  if (!(first instanceof Response)) throw new Error(`${command} does not respond: ${said}`);
  return url;
}

/** Serves the API, and keeps the operator's pages from clients, however its path is written. */
export async function expectKeepsPages(url: string): Promise<void> {
  expect(await (await fetch(`${url}/api/v1/plans?page=2`)).json()).toMatchObject({
    forwarded: '/api/v1/plans?page=2',
  });
  const body = 'x'.repeat(900_000);
  const posted = await fetch(`${url}/api/v1/customers`, { method: 'POST', body });
  expect(await posted.json()).toMatchObject({ forwarded: '/api/v1/customers', length: '900000' });
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'alive' });
  for (const page of ['/metrics', '/readyz']) {
    for (const path of [
      page,
      `${page}/`,
      `${page}?x=1`,
      `/x/..%2f${page}`,
      `/%${hexOf(page[1])}${page.slice(2)}`,
    ]) {
      const response = await fetch(url + path);
      expect(await response.text(), path).not.toMatch(/metric 1|checks|"status"/);
      expect(path.includes('..') ? 404 : response.status, path).toBe(404);
    }
  }
}

function hexOf(character = ''): string {
  return character.charCodeAt(0).toString(16);
}
