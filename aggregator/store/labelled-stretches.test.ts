import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../schemas/primitives/calendar.ts';
import { readTogether, stretchesOf } from './labelled-stretches.ts';
import type { LabelQuestion } from './read-labelled-usage.ts';

/*
 * Mutants that turn it red: an hour that is requested after a gap added to the stretch before it; a current
 * customer meter read as far back as a late one.
 */
const NOW = 500_000 * HOUR_MS;

function question(customerId: string, fromMs: number, toMs = fromMs + HOUR_MS): LabelQuestion {
  const property = { name: 'region', rates: { eu: '1' } };
  const customerMeter = { environment: 'ws_a:live', customerId, meterKey: 'calls' };
  return { ...customerMeter, aggregation: 'sum', property, span: { fromMs, toMs } };
}

function hours(customerId: string, fromMs: number, count: number): LabelQuestion[] {
  return Array.from({ length: count }, (_, hour) => question(customerId, fromMs + hour * HOUR_MS));
}

describe('requested hours', () => {
  it('are one stretch as far as they follow each other, by customer meter', () => {
    const gap = NOW + 100 * HOUR_MS;
    const requested = [
      ...hours('cus_a', NOW, 3).reverse(),
      ...hours('cus_b', NOW, 1),
      question('cus_a', gap),
    ];
    const found = stretchesOf(requested).map(({ customerId, fromMs, toMs }) => [customerId, fromMs, toMs]);
    expect(found).toEqual([
      ['cus_a', NOW, NOW + 3 * HOUR_MS],
      ['cus_b', NOW, NOW + HOUR_MS],
      ['cus_a', gap, gap + HOUR_MS],
    ]);
  });

  it('are read apart from what is no hour', () => {
    const part = question('cus_a', NOW + HOUR_MS, NOW + HOUR_MS + 1);
    const month = question('cus_a', NOW + 2 * HOUR_MS, NOW + 700 * HOUR_MS);
    expect(stretchesOf([...hours('cus_a', NOW, 1), part, month]).map(({ takers }) => takers)).toEqual([
      new Map([[NOW, 0]]),
      1,
      2,
    ]);
  });
});

describe('one statement', () => {
  it('reads a month by the hour of a few customers', () => {
    const requested = ['cus_a', 'cus_b', 'cus_c'].flatMap((one, at) => hours(one, NOW + at * HOUR_MS, 950));
    expect(readTogether(stretchesOf(requested))).toHaveLength(1);
  });

  it('does not read all customers as far back as one that is late', () => {
    const late = hours('cus_late', NOW - 2_000 * HOUR_MS, 1);
    const others = Array.from({ length: 300 }, (_, at) => hours(`cus_${at}`, NOW, 1)).flat();
    const groups = readTogether(stretchesOf([...others, ...late]));
    expect(groups.map((group) => group.length)).toEqual([1, 300]);
  });

  it('is no longer than ClickHouse takes', () => {
    const requested = Array.from({ length: 1_000 }, (_, at) => hours(`cus_${at}`, NOW, 1)).flat();
    expect(readTogether(stretchesOf(requested)).map((group) => group.length)).toEqual([400, 400, 200]);
  });
});
