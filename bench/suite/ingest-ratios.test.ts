import { expect, it } from 'vitest';
import { limitOverOurs } from './ingest-ratios.ts';

it('the limit over ours is a share of what an event costs now', () => {
  expect(limitOverOurs(2.4)).toBe('limit (0.37 to 0.45 µs) / ours 0.1542 to 0.1875');
});
