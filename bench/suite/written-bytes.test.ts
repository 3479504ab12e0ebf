import { expect, it } from 'vitest';
import { judgedWrites } from './written-bytes.ts';

const FIGURES = { events: 1_000, receivedBytes: 165_000, writtenBytes: 310_000, grownBytes: 300_000 };

it('W is what was written for each byte received', () => {
  const found = judgedWrites('W', FIGURES);
  expect(found).toMatchObject({ id: 'W', value: 1.879 });
  expect(found.note).toContain('per event 310 B written, 165 received');
  expect(found.note).toContain('files grew by 1.818');
});

// Fault this catches: data in memory, where the kernel counts no write, reported as the best figure there is.
it('W is not measured where the file system counts no writes', () => {
  const found = judgedWrites('W', { ...FIGURES, writtenBytes: 4_096 });
  expect(found).not.toHaveProperty('value');
  expect(found.note).toContain('does not count');
});
