import { expect, it } from 'vitest';
import { readLabels } from './labels.ts';

/* Red when an unknown text is taken silently, or a faulty one for the whole. */
const KNOWN = { month: 'Monthly', year: 'Yearly' };

it('replaces the texts that are given, and says which are unknown', () => {
  expect(readLabels(null, KNOWN)).toEqual({ labels: KNOWN });
  expect(readLabels('{"month":"Monatlich"}', KNOWN)).toEqual({ labels: { ...KNOWN, month: 'Monatlich' } });
  const unknown = readLabels('{"week":"Wöchentlich","year":"Jährlich"}', KNOWN);
  expect(unknown).toEqual({
    labels: { ...KNOWN, year: 'Jährlich' },
    fault: 'labels: there is no text week; there are month, year.',
  });
  for (const json of ['{', '"month"', '7', 'null', '{"month":7}']) {
    const { labels, fault } = readLabels(json, KNOWN);
    expect(labels).toEqual(KNOWN);
    expect(fault ?? '', json).toMatch(/^labels/);
  }
});
