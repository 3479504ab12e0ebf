import { Writable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { outliveReaders } from './outlive-readers.ts';

it('a log whose reader has ended ends nothing', async () => {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => void uncaught.push(error);
  process.on('uncaughtException', note);
  onTestFinished(() => void process.off('uncaughtException', note));
  const log = new Writable({ write: (_chunk, _encoding, done) => done(new Error('write EPIPE')) });
  outliveReaders(log);
  // Not `once` of node:events, which listens for errors too.
  const closed = new Promise((resolve) => void log.once('close', resolve));
  log.write('sidecar: a line');
  await closed;
  await new Promise(setImmediate);
  expect([log.destroyed, uncaught]).toEqual([true, []]);
});
