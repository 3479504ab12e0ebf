import { expect, test } from 'vitest';
import type { Route } from '../../schemas/route.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { STREAM_PATHS } from './stream-paths.ts';

test('every operation whose response goes on is known as one', () => {
  const streams = Object.values<Route>(ROUTES).filter(({ mediaTypes }) =>
    mediaTypes?.includes('text/event-stream'),
  );
  expect([...STREAM_PATHS].sort()).toEqual(streams.map(({ path }) => path).sort());
});
