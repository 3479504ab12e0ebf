import { expect, test } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createCloser } from './closer.ts';

/** Red when one closer takes all its steps before the next begins, or in the order of opening. */
test('all is drained before anything is closed, the newest first, and once', async () => {
  const taken: string[] = [];
  const closer = createCloser(SILENT);
  for (const name of ['a', 'b', 'c']) {
    closer.add(name, { drain: () => taken.push(`drain ${name}`), close: () => taken.push(`close ${name}`) });
  }
  await Promise.all([closer.close(), closer.close()]);
  expect(taken).toEqual(['drain c', 'drain b', 'drain a', 'close c', 'close b', 'close a']);
});

/** Red when a step has no time limit, or an error ends the row. */
test('a step that fails or hangs does not keep the others from theirs', async () => {
  const closed: string[] = [];
  const closer = createCloser(SILENT, { stepTimeoutMs: 20 });
  closer.add('last', { close: () => closed.push('last') });
  closer.add('hangs', { drain: () => new Promise(() => undefined) });
  closer.add('rejects', { close: () => Promise.reject(new Error('no')) });
  closer.add('throws', {
    drain: () => {
      throw new Error('no');
    },
  });
  await closer.close();
  expect(closed).toEqual(['last']);
});
