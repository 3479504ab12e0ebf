import type { Formats } from '../element/formats.ts';
import type { UsageLabels } from './labels.ts';

/** What this element reads of `GET /api/v1/entitlements/{customerId}/{featureKey}`. */
export interface Decision {
  featureKey: string;
  reason: string;
  /** Left out where there is no such feature. */
  type?: 'boolean' | 'limit' | 'metered';
  effectiveValue?: boolean | number | null;
  limit?: number;
  current?: number;
  remaining?: number;
  resetsAt?: string;
}

export interface UsageTexts {
  amount: string;
  note: string;
  /** Of the limit; undefined without one. */
  share?: number;
  level: 'low' | 'near' | 'over';
}

const NEAR = 0.8;

export function usageTexts(decision: Decision, formats: Formats, labels: UsageLabels): UsageTexts {
  const { type, effectiveValue, limit, current = 0, remaining, resetsAt } = decision;
  const isWithout = effectiveValue === undefined || effectiveValue === false;
  const named = (text: string) =>
    text
      .replace('{current}', formats.number(current))
      .replace('{limit}', formats.number(limit ?? 0))
      .replace('{remaining}', formats.number(remaining ?? 0))
      .replace('{date}', resetsAt === undefined ? '' : formats.day(resetsAt));
  const plain = (amount: string): UsageTexts => ({ amount: named(amount), note: '', level: 'low' });
  if (isWithout) return plain(labels.excluded);
  if (type === 'boolean') return plain(labels.included);
  if (type === 'limit') return plain(limit === undefined ? labels.everything : labels.limit);
  const resets = resetsAt === undefined ? '' : labels.resets;
  if (limit === undefined) return { ...plain(labels.unlimited), note: named(resets) };
  const share = limit > 0 ? current / limit : 1;
  const note = named([labels.left, resets].filter(Boolean).join(' · '));
  return {
    amount: named(labels.used),
    note,
    share,
    level: share >= 1 ? 'over' : share >= NEAR ? 'near' : 'low',
  };
}
