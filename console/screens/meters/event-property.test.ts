import { expect, it } from 'vitest';
import { filterFault, filterOf, lacksGroup } from './event-property.ts';
import type { Report } from './explored.ts';

it('is a property with its value, also of one with signs', () => {
  expect(filterOf(' region = eu=1')).toEqual({ property: 'region', value: 'eu=1' });
  expect(filterOf('region=')).toEqual({ property: 'region', value: '' });
});

/** Red when what is no filter is ignored: the total of all customers was shown for "Foxglove". */
it('says what is wrong with text that is no filter', () => {
  expect(filterFault('Foxglove')).toContain('customerId=Foxglove');
  for (const text of ['=eu', ' =', 'x']) expect(filterFault(text)).toContain('region=eu');
  for (const text of ['', ' ', 'region=eu', 'region=']) expect(filterFault(text)).toBeUndefined();
});

it('knows when no event has the property', () => {
  const entry = (value: string, count: number) => ({ group: { shape: value }, count, total: '1' });
  const report = (...data: object[]) => ({ groupBy: ['shape'], data }) as unknown as Report;
  expect(lacksGroup(report(entry('', 3)))).toBe(true);
  expect(lacksGroup(report(entry('', 3), entry('round', 1)))).toBe(false);
  expect(lacksGroup(report(entry('', 0)))).toBe(false);
  expect(lacksGroup(report())).toBe(false);
});
