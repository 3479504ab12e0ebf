import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endChild } from '../../tests/support/child-end.ts';
import type { Instance } from '../../tests/support/instance.ts';
import { spreadOf } from '../samples.ts';

const PER_SECOND = 500;
const PHASE_MS = 10_000;
const MODES = ['memory', 'spool'];

/**
 * Responses of an application that tracks one event with each, in a process of its own, at a fixed rate:
 * without a meter, with the server up, and after it was killed. Milliseconds, from when a request was due.
 */
export async function applicationLatency(instance: Instance): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-application-'));
  const applications = await Promise.all(
    ['none', ...MODES].map((mode) => startApplication(instance, { mode, folder })),
  );
  const figures: Record<string, Record<string, object>> = {};
  try {
    for (const phase of ['up', 'killed']) {
      if (phase === 'killed') await instance.kill('supervisor');
      // The server's other processes end, and what the meters had sent fails.
      if (phase === 'killed') await new Promise((resolve) => setTimeout(resolve, 3_000));
      for (const { mode, port } of applications) {
        figures[mode] = { ...figures[mode], [phase]: await responseTimes(port) };
      }
    }
    return { perSecond: PER_SECOND, milliseconds: figures };
  } finally {
    await Promise.all(applications.map(({ child }) => endChild(child)));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startApplication(instance: Instance, { mode, folder }: { mode: string; folder: string }) {
  const child = fork(new URL('./tracking-application.js', import.meta.url), {
    env: {
      ...process.env,
      METERGATE_URL: instance.origin,
      METERGATE_KEY: instance.keys().live.secret,
      SPOOL: mode === 'spool' ? folder : '',
      TRACKS: mode === 'none' ? '' : 'yes',
    },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { mode, port, child };
}

async function responseTimes(port: number): Promise<object> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const count = (PER_SECOND * PHASE_MS) / 1_000;
  const beganAtMs = performance.now();
  const responses: Promise<void>[] = [];
  for (let at = 0; at < count; at++) {
    const dueAtMs = beganAtMs + (at * 1_000) / PER_SECOND;
    const waitMs = dueAtMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    // A timer may be early.
    const fromMs = Math.min(dueAtMs, performance.now());
    responses.push(responseOf(agent, port).then(() => void times.push(performance.now() - fromMs)));
  }
  await Promise.all(responses);
  agent.destroy();
  return spreadOf(times, (ms) => Math.round(ms * 100) / 100);
}

function responseOf(agent: Agent, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = get({ port, agent, path: '/' }, (response) => {
      response.resume().once('end', resolve).once('error', reject);
    });
    sent.once('error', reject);
  });
}
