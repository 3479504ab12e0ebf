import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startDataPlaneUnderTest } from '../../../ingest/data-plane-under-test.ts';
import { createApi } from '../../support/api.ts';
import { inTime } from '../../support/in-time.ts';
import { traceTo } from '../../support/system-calls.ts';
import { type Recording, readRecording, traceIsComplete } from './recording.ts';

const FRAMES = 120;
/** After an orderly end the keys are in their file: the next life gives up segments. */
const LIVES = ['kill', 'orderly', 'kill', 'orderly', 'kill'];

/** A log of many segments and its keys, through kills and orderly stops. `folder` is a new one. */
export async function recordSegments(folder: string): Promise<Recording> {
  const { dataDir, before } = placesIn(folder);
  const program = join('dist-tests', 'tests', 'faults', 'crash-consistency', 'keep-writing.js');
  const traces: string[] = [];
  for (const [life, how] of LIVES.entries()) {
    const trace = join(folder, `${life}.trace`);
    const [command = '', ...args] = [...traceTo(trace), process.execPath, program, dataDir];
    const rest = [String(life), String(FRAMES), how];
    const child = spawn(command, [...args, ...rest], { stdio: ['ignore', 'ignore', 'inherit'] });
    await endOf(child, how === 'kill' ? 'SIGKILL' : 0);
    await traceIsComplete(trace, child.pid ?? 0);
    traces.push(trace);
  }
  return readRecording({ dataDir, before, traces });
}

const LIFE_MS_MAX = 60_000;

/** Rejects when the process takes too long, or ends otherwise than it was to. */
async function endOf(child: ChildProcess, wanted: number | NodeJS.Signals): Promise<void> {
  try {
    const [code, killedBy] = await inTime(once(child, 'exit'), LIFE_MS_MAX, 'a life of the log');
    if ((code ?? killedBy) !== wanted) throw new Error(`a life of the log ended with ${code ?? killedBy}`);
  } finally {
    child.kill('SIGKILL');
  }
}

const CONNECTIONS = 6;
const REQUESTS = 10;
const BATCH = 100;

/** A data plane that serves many clients at once, batches and single events, through a stop and a kill. */
export async function recordDataPlane(folder: string): Promise<Recording> {
  const { before } = placesIn(folder);
  const traces: string[] = [];
  const plane = await startDataPlaneUnderTest({}, () => {
    traces.push(join(folder, `${traces.length}.trace`));
    return traceTo(traces.at(-1) ?? '');
  });
  try {
    await plane.addCustomer('ada');
    for (const how of ['stop', 'kill', 'stop'] as const) {
      await Promise.all(
        Array.from({ length: CONNECTIONS }, (_, sender) => send(plane, `${traces.length}-${sender}`)),
      );
      const pid = plane.pid();
      const exitCode = await plane.stop(how === 'stop' ? 'SIGTERM' : 'SIGKILL');
      if (exitCode !== (how === 'stop' ? 0 : null)) throw new Error(`${how}: it ended with ${exitCode}`);
      await traceIsComplete(traces.at(-1) ?? '', pid);
      if (traces.length < 3) await plane.restart();
    }
    return await readRecording({ dataDir: plane.dataDir, before, traces });
  } finally {
    await plane.remove();
  }
}

function placesIn(folder: string): { dataDir: string; before: string } {
  const places = { dataDir: join(folder, 'data'), before: join(folder, 'before') };
  for (const place of Object.values(places)) mkdirSync(place, { recursive: true });
  return places;
}

type Plane = Awaited<ReturnType<typeof startDataPlaneUnderTest>>;

/** One request after the other; of a batch a fifth was sent before. */
async function send({ origin, keys }: Plane, sender: string): Promise<void> {
  const api = createApi({ origin: origin(), key: keys.live.secret, connections: 1 });
  for (let request = 0; request < REQUESTS; request++) {
    const single = request % 3 === 0;
    const events = Array.from({ length: BATCH }, (_, at) =>
      eventOf(`${sender}-${request - Number(at % 5 === 4)}-${at}`),
    );
    const { status, body } = await api.call('POST', `/usage/events${single ? '' : '/batch'}`, {
      headers: single ? { 'idempotency-key': `${sender}-${request}` } : {},
      body: JSON.stringify(single ? eventOf(undefined) : { events }),
    });
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
  }
  await api.close();
}

function eventOf(idempotencyKey: string | undefined) {
  return { idempotencyKey, customerId: 'ada', meterId: 'calls', value: 1 };
}
