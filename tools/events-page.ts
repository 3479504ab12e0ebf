import type { TSchema } from 'typebox';
import { EVENT_TYPES, EVENTS, type EventType, exampleEnvelope } from '../schemas/events.ts';

const INTRODUCTION = `# Events

Metergate sends an event to each webhook endpoint that selected its type.
[Webhooks](webhooks.md) describes how deliveries are signed, retried and replayed.

Every event has the same envelope. \`id\` is the same for every attempt and every replay.
\`workspace_id\` names your workspace. \`created_at\` is the time of the change. The members of \`data\`
depend on \`type\`; later releases may add more.

Numbers keep every digit, up to 15 before and 12 after the decimal point. A JSON parser that reads
doubles rounds the longest of them.

\`POST /webhooks/endpoints/{id}/test\` sends the example of a type to an endpoint.

This page is generated from \`schemas/events.ts\` by \`npm run openapi\`.
`;

/** docs/use/events.md: each event type with its data and an example. */
export function eventsPage(): string {
  const overview = EVENT_TYPES.map((type) => [`[\`${type}\`](#${anchorOf(type)})`, EVENTS[type].summary]);
  return [INTRODUCTION, `${tableOf(['type', 'sent when'], overview)}\n`, ...EVENT_TYPES.map(sectionOf)].join(
    '\n',
  );
}

function sectionOf(type: EventType): string {
  const { summary, description, data }: { summary: string; description?: string; data: TSchema } =
    EVENTS[type];
  const { properties } = data as { properties?: Record<string, Member> };
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    return [`\`${name}\``, typeOf(member), member.description ?? ''];
  });
  return [
    `## ${type}`,
    description === undefined ? summary : `${summary} ${description}`,
    tableOf(['member of `data`', 'type', 'meaning'], members),
    `\`\`\`json\n${shownJson(exampleEnvelope(type))}\n\`\`\`\n`,
  ].join('\n\n');
}

/** Lists on one line, as the formatter wants them. */
function shownJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/\[[^[\]{}]*\]/g, (list) => JSON.stringify(JSON.parse(list)));
}

/** Its columns aligned, as the formatter wants them. */
function tableOf(head: string[], rows: string[][]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...rows]
    .map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`)
    .join('\n');
}

interface Member {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  items?: Member;
  description?: string;
}

function typeOf({ type, format, enum: values, items }: Member): string {
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (items) return `array of ${typeOf(items)}`;
  if (format === 'date-time') return 'timestamp';
  return [type].flat().join(' or ');
}

/** As GitHub makes it of a heading. */
function anchorOf(type: EventType): string {
  return type.replaceAll('.', '');
}
