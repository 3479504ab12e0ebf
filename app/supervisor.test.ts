import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isAlive, signal } from '../infra/platform/process-identity.ts';
import { testFolder } from '../tests/support/test-folder.ts';
import type { ChildSpec } from './supervised-child.ts';
import { startSupervisor } from './supervisor.ts';

/** Printed last: a stop may follow at once. */
const READY = `process.send({ type: 'ready', port: 7 });`;
const ENDS_WITH_ITS_CHANNEL = `process.on('disconnect', () => process.exit(0));`;
const DRAINS = `process.on('SIGTERM', () => { write('drained'); process.exit(0); });`;
const IGNORES = `process.on('SIGTERM', () => write('ignored'));`;

/** Small programs that write what they do to one journal: `name word pid`. */
function programs() {
  const folder = testFolder();
  const journal = join(folder, 'journal');
  const lines = () => (existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : []);
  const printed = (start: string) => lines().filter((line) => line.startsWith(start));
  return {
    child(name: string, ...body: string[]): ChildSpec {
      const program = join(folder, `${name}.mjs`);
      const write = `import { appendFileSync, readFileSync } from 'node:fs';
        const journal = () => readFileSync(${JSON.stringify(journal)}, 'utf8');
        const line = (word) => ['${name}', word, process.pid].join(' ') + '\\n';
        const write = (word) => appendFileSync(${JSON.stringify(journal)}, line(word));
        write('started');`;
      writeFileSync(program, [write, ENDS_WITH_ITS_CHANNEL, ...body].join('\n'));
      return { name, program, stopTimeoutMs: 5_000 };
    },
    printed,
    pids: (start: string) => printed(start).map((line) => Number(line.split(' ')[2])),
  };
}

function supervise(children: ChildSpec[]) {
  const onReady = vi.fn();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const supervisor = startSupervisor({ children, log, onReady });
  onTestFinished(async () => {
    supervisor.force();
    supervisor.stop();
    await supervisor.done;
  });
  return { supervisor, onReady, logged: () => lines.map((line) => JSON.parse(line)) };
}

const WITHIN = { timeout: 20_000, interval: 10 };

test('it is ready once, when every child is, with what each reported', async () => {
  const { child } = programs();
  const late = child('late', `setTimeout(() => { ${READY} }, 100);`);
  const { onReady } = supervise([child('early', READY), late]);
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce(), WITHIN);
  const [messages] = onReady.mock.calls[0] ?? [];
  expect([...messages.keys()].sort()).toEqual(['early', 'late']);
  expect(messages.get('early')).toEqual({ type: 'ready', port: 7 });
});

/** Red when they are notified once: one that was started again waits for what it needs to know. */
test('each time that all are ready, every child is notified of what each reported', async () => {
  const { child, pids } = programs();
  const reports = `process.on('message', ({ type, ready }) => write([type, ready.b.port].join(':')));`;
  const { onReady } = supervise([child('a', reports, READY), child('b', READY)]);
  await vi.waitFor(() => expect(pids('a all-ready:7')).toHaveLength(1), WITHIN);
  const [first = 0] = pids('a started');
  signal(first, 'SIGKILL');
  await vi.waitFor(() => expect(pids('a all-ready:7')).toHaveLength(2), WITHIN);
  expect(pids('a all-ready:7')).toEqual([first, pids('a started')[1]]);
  expect(onReady).toHaveBeenCalledOnce();
});

/** Red when a dead child is left dead, and when ready is announced again. */
test('a killed child is started again at once, and the other one is left alone', async () => {
  const { child, pids } = programs();
  const { onReady, logged } = supervise([child('a', READY), child('b', READY)]);
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce(), WITHIN);
  signal(pids('a started')[0] ?? 0, 'SIGKILL');
  await vi.waitFor(() => expect(pids('a started')).toHaveLength(2), WITHIN);
  // How long Node takes to start is not our doing.
  const again = { child: 'a', signal: 'SIGKILL', waitMs: 0 };
  expect(logged()).toContainEqual(expect.objectContaining(again));
  expect(pids('b started')).toHaveLength(1);
  expect(onReady).toHaveBeenCalledOnce();
});

/** Red when a final exit code is started again. */
test.each([2, 3])('exit code %i is passed on, and the others are stopped', async (exitCode) => {
  const { child, printed, pids } = programs();
  const good = child('good', DRAINS);
  const bad = child('bad', `setInterval(() => journal().includes('good') && process.exit(${exitCode}), 5);`);
  const { supervisor } = supervise([good, bad]);
  expect(await supervisor.done).toBe(exitCode);
  expect(printed('bad started')).toHaveLength(1);
  expect(pids('good started').map(isAlive)).toEqual([false]);
});

test('a child that is never ready is given up after three starts, with its exit code', async () => {
  const { child, printed } = programs();
  const { supervisor } = supervise([child('bad', 'process.exit(9);')]);
  expect(await supervisor.done).toBe(9);
  expect(printed('bad started')).toHaveLength(3);
});

/** Red when a child that dies over and over is started without a pause. */
test('a child that dies as soon as it is ready is started again, more and more slowly', async () => {
  const { child, pids } = programs();
  supervise([child('bad', READY, 'setTimeout(() => process.exit(1), 5);')]);
  await vi.waitFor(() => expect(pids('bad started').length).toBeGreaterThanOrEqual(4), WITHIN);
  const fourthAt = performance.now();
  await vi.waitFor(() => expect(pids('bad started').length).toBeGreaterThanOrEqual(5), WITHIN);
  expect(performance.now() - fourthAt).toBeGreaterThan(350);
});

/** Red when a process that hangs is left alone, when one that is paused is ended, and without responses. */
test('a child that hangs is started again by force, a paused and a healthy one are left alone', async () => {
  const { child, pids } = programs();
  const responds = `process.on('message', (sent) => sent.type === 'ping' && process.send(sent));`;
  const often = { pingEveryMs: 250 };
  const hangs = { ...child('hung', READY, 'setTimeout(() => { for (;;); }, 20);'), ...often };
  const paused = { ...child('paused', responds, READY), ...often };
  const { onReady, logged } = supervise([{ ...child('well', responds, READY), ...often }, paused, hangs]);
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce(), WITHIN);
  const [pausedPid = 0] = pids('paused started');
  signal(pausedPid, 'SIGSTOP');
  // Each has hung for as long as the paused one may.
  await vi.waitFor(() => expect(pids('hung started').length).toBeGreaterThanOrEqual(3), WITHIN);
  signal(pausedPid, 'SIGCONT');
  expect([pids('well started'), pids('paused started')].map(({ length }) => length)).toEqual([1, 1]);
  const [first] = pids('hung started');
  expect(logged()).toContainEqual(expect.objectContaining({ level: 50, child: 'hung', pid: first }));
});

test('a stop drains the children one after the other and ends with 0', async () => {
  const { child, printed } = programs();
  const { supervisor, onReady } = supervise([child('first', DRAINS, READY), child('second', DRAINS, READY)]);
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce(), WITHIN);
  supervisor.stop();
  expect(await supervisor.done).toBe(0);
  const drained = printed('').filter((line) => line.includes('drained'));
  expect(drained.map((line) => line.split(' ')[0])).toEqual(['first', 'second']);
});

/** Red when SIGKILL never follows. */
test('a child that does not end is ended by force after its time', async () => {
  const { child, printed } = programs();
  const stubborn = { ...child('stubborn', IGNORES, READY), stopTimeoutMs: 2_000 };
  const { supervisor, onReady } = supervise([stubborn]);
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce(), WITHIN);
  supervisor.stop();
  expect(await supervisor.done).toBe(0);
  expect(printed('stubborn ignored')).toHaveLength(1);
});

test('force ends a stop that takes its time, with 1', async () => {
  const { child, printed } = programs();
  const { supervisor, onReady } = supervise([{ ...child('slow', IGNORES, READY), stopTimeoutMs: 60_000 }]);
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce(), WITHIN);
  supervisor.stop();
  await vi.waitFor(() => expect(printed('slow ignored')).toHaveLength(1), WITHIN);
  supervisor.force();
  expect(await supervisor.done).toBe(1);
});

/** Red when only an exit starts it again: a process that could not be made emits none. */
test('a child that could not be made is made again, and a stop does not wait for it', async () => {
  const { child, printed } = programs();
  const { execPath } = process;
  process.execPath = '/nowhere/node';
  const { supervisor, onReady } = supervise([child('a', READY)]);
  process.execPath = execPath;
  await vi.waitFor(() => expect(onReady).toHaveBeenCalledOnce(), WITHIN);
  expect(printed('a started')).toHaveLength(1);
  supervisor.stop();
  await supervisor.done;
});
