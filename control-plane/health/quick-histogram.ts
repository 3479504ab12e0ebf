import type { Metric, Registry } from 'prom-client';

export interface QuickHistogram {
  observe(value: number): void;
}

export interface QuickHistogramOptions<Label extends string> {
  name: string;
  help: string;
  labelNames: readonly Label[];
  /** Upper bounds, ascending. */
  buckets: readonly number[];
}

interface Counts extends QuickHistogram {
  labels: Record<string, string>;
  /** For each bucket alone; the last counts values beyond all bounds. */
  perBucket: number[];
  sum: number;
}

/**
 * A histogram with the same scraped text as prom-client's. In prom-client every observation prints the labels
 * and looks them up, which costs more than a cached check does otherwise. Here that is done once for each set
 * of labels; there must be few.
 */
export function createQuickHistogram<Label extends string>(
  registry: Registry,
  { name, help, labelNames, buckets }: QuickHistogramOptions<Label>,
): (labels: Record<Label, string>) => QuickHistogram {
  const made = new Map<string, Counts>();
  const metric = {
    name,
    help,
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: valuesOf(name, buckets, made),
    }),
  };
  // The metrics page needs no more than that.
  registry.registerMetric(metric as unknown as Metric);
  return (labels) => {
    const key = JSON.stringify(labelNames.map((label) => labels[label]));
    const known = made.get(key) ?? newCounts(labels, buckets);
    made.set(key, known);
    return known;
  };
}

function newCounts(labels: Record<string, string>, buckets: readonly number[]): Counts {
  const counts: Counts = {
    labels,
    perBucket: Array(buckets.length + 1).fill(0),
    sum: 0,
    observe(value) {
      let at = 0;
      while (at < buckets.length && value > (buckets[at] as number)) at += 1;
      counts.perBucket[at] = (counts.perBucket[at] as number) + 1;
      counts.sum += value;
    },
  };
  return counts;
}

/** Each bucket includes all below it, as Prometheus expects. */
function valuesOf(name: string, buckets: readonly number[], made: ReadonlyMap<string, Counts>) {
  return [...made.values()].flatMap(({ labels, perBucket, sum }) => {
    let count = 0;
    const cumulative = perBucket.map((some, at) => {
      count += some;
      const le = buckets[at] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...cumulative,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  });
}
