import { HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import type { UsageQuestion } from './read-usage.ts';
import type { RequestedSpan } from './requested-spans.ts';

/** A span that is read at once, for one question, or for each of its hours for another one. */
export interface Stretch extends RequestedSpan {
  /** By the start of the hour; for a question that is not a whole hour, the one that gets the whole span. */
  takers: ReadonlyMap<number, number> | number;
}

/** Of one statement: more make it longer than ClickHouse takes. */
const STRETCHES_MAX = 400;
/** Unneeded hours of a customer meter that a statement may read: they cost less than a second statement. */
const IDLE_HOURS_MAX = 500;

/** Hours that follow each other are one stretch: a month of them is one row of the statement and not 700. */
export function stretchesOf(questions: readonly UsageQuestion[]): Stretch[] {
  const stretches: Stretch[] = [];
  const open = new Map<string, { stretch: Stretch; takers: Map<number, number> }>();
  const places = questions
    .map((_, place) => place)
    .sort((a, b) => fromOf(questions, a) - fromOf(questions, b));
  for (const question of places) {
    const { span, environment, customerId, meterKey } = questions[question] as UsageQuestion;
    const name = customerMeterName(questions[question] as UsageQuestion);
    const before = open.get(name);
    if (!isHour(span)) {
      stretches.push({
        environment,
        customerId,
        meterKey,
        ...span,
        place: stretches.length,
        takers: question,
      });
    } else if (before?.stretch.toMs === span.fromMs) {
      before.stretch.toMs = span.toMs;
      before.takers.set(span.fromMs, question);
    } else {
      const takers = new Map([[span.fromMs, question]]);
      const stretch = { environment, customerId, meterKey, ...span, place: stretches.length, takers };
      open.set(name, { stretch, takers });
      stretches.push(stretch);
    }
  }
  return stretches;
}

/**
 * Groups of stretches that one statement reads. A statement reads all its customer meters from the first time
 * to the last. Current and late ones are in separate groups, so that the current ones are not read as far
 * back as the late ones.
 */
export function readTogether(stretches: readonly Stretch[]): Stretch[][] {
  const groups: Group[] = [];
  for (const stretch of [...stretches].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = groups.at(-1);
    const grown = last && withStretch(last, stretch);
    if (grown && grown.stretches.length <= STRETCHES_MAX && idleHours(grown) <= IDLE_HOURS_MAX) {
      groups[groups.length - 1] = grown;
    } else {
      groups.push(
        withStretch(
          { stretches: [], customerMeters: new Set(), requestedMs: 0, ...spanOf(stretch) },
          stretch,
        ),
      );
    }
  }
  return groups.map((group) => group.stretches);
}

interface Group extends Span {
  stretches: Stretch[];
  customerMeters: Set<string>;
  requestedMs: number;
}

function withStretch(group: Group, stretch: Stretch): Group {
  return {
    stretches: [...group.stretches, stretch],
    customerMeters: new Set(group.customerMeters).add(customerMeterName(stretch)),
    requestedMs: group.requestedMs + stretch.toMs - stretch.fromMs,
    fromMs: group.fromMs,
    toMs: Math.max(group.toMs, stretch.toMs),
  };
}

function idleHours({ customerMeters, requestedMs, fromMs, toMs }: Group): number {
  return ((toMs - fromMs) * customerMeters.size - requestedMs) / HOUR_MS;
}

function spanOf({ fromMs, toMs }: Span): Span {
  return { fromMs, toMs };
}

function customerMeterName({ environment, customerId, meterKey }: Stretch | UsageQuestion): string {
  return `${environment} ${customerId} ${meterKey}`;
}

function fromOf(questions: readonly UsageQuestion[], place: number): number {
  return questions[place]?.span.fromMs ?? 0;
}

function isHour({ fromMs, toMs }: Span): boolean {
  return fromMs % HOUR_MS === 0 && toMs - fromMs === HOUR_MS;
}
