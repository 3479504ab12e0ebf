import { once } from 'node:events';
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
  const closed = once(log, 'close').catch(() => undefined);
  log.write('sidecar: a line');
  await closed;
  expect([log.destroyed, uncaught]).toEqual([true, []]);
});
