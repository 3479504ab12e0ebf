import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { eventsPage } from './events-page.ts';

/* Breaks that turn it red: an event type, a member or an example changed without `npm run openapi`. */
it('is the committed docs/use/events.md: after a change `npm run openapi` renews it', () => {
  expect(readFileSync('docs/use/events.md', 'utf8'), 'docs/use/events.md: npm run openapi').toBe(
    eventsPage(),
  );
});
