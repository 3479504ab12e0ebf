import { HOUR_MS } from '../../schemas/rules/calendar.ts';
import type { AskedSpan } from './asked-spans.ts';
import type { LabelQuestion } from './read-labelled-usage.ts';

/** A span that is read at once, for one question, or for each of its hours for another one. */
export interface Stretch extends AskedSpan {
  /** By the start of the hour; a question that is no whole hour is the answer to all of the span. */
  takers: ReadonlyMap<number, number> | number;
}

/** Of one statement: more make it longer than ClickHouse takes. */
const STRETCHES_MAX = 400;
/** Hours of one pair that a statement may read for nothing: so many cost less than another statement. */
const IDLE_HOURS_MAX = 500;

/** Hours that follow each other are one stretch: a month of them is one row of the statement and not 700. */
export function stretchesOf(questions: readonly LabelQuestion[]): Stretch[] {
  const stretches: Stretch[] = [];
  const open = new Map<string, { stretch: Stretch; takers: Map<number, number> }>();
  const places = questions
    .map((_, place) => place)
    .sort((a, b) => fromOf(questions, a) - fromOf(questions, b));
  for (const question of places) {
    const { span, environment, customerId, meterKey } = questions[question] as LabelQuestion;
    const name = `${environment} ${customerId} ${meterKey}`;
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
 * Those that one statement reads. It reads all its pairs from the first moment to the last: so that pairs of
 * now are not read as far back as one that is late, the two are asked for apart.
 */
export function readTogether(stretches: readonly Stretch[]): Stretch[][] {
  const groups: Stretch[][] = [];
  let own = 0;
  let toMs = 0;
  for (const stretch of [...stretches].sort((a, b) => a.fromMs - b.fromMs)) {
    const group = groups.at(-1) ?? [];
    const hours = (stretch.toMs - stretch.fromMs) / HOUR_MS;
    const lastMs = Math.max(toMs, stretch.toMs);
    const read = ((lastMs - (group[0]?.fromMs ?? stretch.fromMs)) / HOUR_MS) * (group.length + 1);
    if (group.length === 0 || group.length === STRETCHES_MAX || read - own - hours > IDLE_HOURS_MAX) {
      groups.push([stretch]);
      own = hours;
      toMs = stretch.toMs;
    } else {
      group.push(stretch);
      own += hours;
      toMs = lastMs;
    }
  }
  return groups;
}

function fromOf(questions: readonly LabelQuestion[], place: number): number {
  return questions[place]?.span.fromMs ?? 0;
}

function isHour({ fromMs, toMs }: LabelQuestion['span']): boolean {
  return fromMs % HOUR_MS === 0 && toMs - fromMs === HOUR_MS;
}
