import { apiPath } from '../../api/rest.ts';
import type { Responded } from '../../api/wire.ts';
import type { Series } from '../../design/chart.tsx';
import { lastDays, monthBefore, type Span } from '../../design/ranges.ts';
import { filterOf } from './event-property.ts';

export type Report = Responded<'meterUsage.retrieve'>;
type Group = Report['data'][number]['group'];

export const RANGES = [
  ['7-days', 'Last 7 days'],
  ['30-days', 'Last 30 days'],
  ['90-days', 'Last 90 days'],
  ['month', 'This month (UTC)'],
  ['last-month', 'Last month (UTC)'],
] as const;
export type Range = (typeof RANGES)[number][0];

export const STEPS = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['week', 'Week'],
  ['month', 'Month'],
] as const;
export type Step = (typeof STEPS)[number][0];

/** What a reader asks of a meter. */
export interface Question {
  span: Span;
  step: Step;
  timezone: string;
  /** A property or `customerId`; '' for none. */
  group: string;
  /** `region=eu`; '' for none. */
  filter: string;
}

export function spanOf(range: Range, nowMs: number): Span {
  if (range === 'month') return monthBefore(0, nowMs);
  if (range === 'last-month') return monthBefore(1, nowMs);
  return lastDays(Number(range.split('-')[0]), nowMs);
}

/** As long before. */
export function spanBefore({ from, to }: Span): Span {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  return { from: new Date(fromMs - (toMs - fromMs)).toISOString(), to: from };
}

/** Groups in colours of their own; the others are one line. */
const GROUPS_SHOWN = 4;

/** As many as one file has. */
export const GROUPS_SAVED = 1_000;

/** With a step of '' each group has one entry, of all the time. */
export function usagePath(
  meterKey: string,
  question: Omit<Question, 'step'> & { step: Step | '' },
  groups = GROUPS_SHOWN,
): string {
  const { span, step, timezone, group, filter } = question;
  const only = filterOf(filter);
  return apiPath(['meters', meterKey, 'usage'], {
    ...span,
    granularity: step,
    timezone,
    groupBy: group,
    ...(only ? { [`filter[${only.property}]`]: only.value } : {}),
    ...(step === '' ? {} : { fill: 'zero' }),
    limit: group === '' ? 1 : groups,
    consistency: 'eventual',
  });
}

export interface Drawn {
  timesMs: number[];
  series: Series[];
}

/** One series for each group, in the order of their totals. `names`: of customers, by id. */
export function drawnOf(report: Report, names: ReadonlyMap<string, string> = new Map()): Drawn {
  const { data, other, groupBy, meterId } = report;
  const timesMs = [...new Set(data.map(({ from }) => Date.parse(from)))].sort((one, two) => one - two);
  const groups = new Map<string, Map<number, number>>();
  for (const { from, group, total } of data) {
    const name = groupName(groupBy, named(group, names), meterId);
    const values = groups.get(name) ?? new Map<number, number>();
    groups.set(name, values.set(Date.parse(from), Number(total)));
  }
  const seriesOf = (name: string, values: ReadonlyMap<number, number>): Series => ({
    name,
    values: timesMs.map((ms) => values.get(ms) ?? 0),
  });
  const series = [...groups].map(([name, values]) => seriesOf(name, values));
  series.sort((one, two) => sum(two) - sum(one));
  const rest = other?.data.map(({ from, total }) => [Date.parse(from), Number(total)] as const);
  return { timesMs, series: rest ? [...series, seriesOf('others', new Map(rest))] : series };
}

/** The group with the name of the customer in place of the id. */
export function named(group: Group, names: ReadonlyMap<string, string>): Group {
  const { customerId } = group;
  return customerId === undefined ? group : { ...group, customerId: names.get(customerId) ?? customerId };
}

/** Of what an entry is, for people. */
export function groupTitle(groupBy: readonly string[]): string {
  return groupBy.map((name) => (name === 'customerId' ? 'customer' : name)).join(', ');
}

/** What one entry is of. */
export function groupName(groupBy: readonly string[], group: Group, all: string): string {
  return groupBy.length === 0 ? all : groupBy.map((name) => group[name] || 'none').join(', ');
}

function sum({ values }: Series): number {
  return values.reduce<number>((all, value) => all + (value ?? 0), 0);
}
