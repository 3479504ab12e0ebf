import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createQuickHistogram } from './quick-histogram.ts';

/*
 * Compared with prom-client's own histogram by the scraped text.
 *
 * Mutants this suite catches: a value at a bound in the next bucket; buckets that do not include those below
 * them; one set of labels counted under another; no default labels.
 */
it('is scraped like any other', async () => {
  const options = {
    name: 'taken',
    help: 'How long.',
    labelNames: ['operation', 'status'],
    buckets: [0.5, 1, 5],
  };
  const value = fc.oneof(fc.constantFrom(0, 0.5, 1, 5), fc.double({ min: 0, max: 9, noNaN: true }));
  const seen = fc.record({
    operation: fc.constantFrom('a', 'b"'),
    status: fc.constantFrom('200', '404'),
    value,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(seen), async (all) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      for (const registry of [ours, theirs]) registry.setDefaultLabels({ role: 'control' });
      const quick = createQuickHistogram(ours, options);
      const usual = new Histogram({ ...options, registers: [theirs] });
      for (const { operation, status, value: one } of all) {
        quick({ operation, status }).observe(one);
        usual.labels(operation, status).observe(one);
      }
      expect(lines(await ours.metrics())).toEqual(lines(await theirs.metrics()));
    }),
  );
});

function lines(page: string): string[] {
  return page
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort()}}`))
    .sort();
}
