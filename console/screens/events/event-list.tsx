import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { amount, counted } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import type { Span } from '../../design/ranges.ts';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';

export type UsageEvent = Listed<'usage.events'>;

interface EventListProps {
  question: { customer: string; meter: string; span: Span; find: string };
}

/** Events of one response, among which a text is looked for. */
const PAGE = 500;

export function EventList({ question: { customer, meter, span, find } }: EventListProps) {
  // Of the pages before this one.
  const [cursors, setCursors] = useState<string[]>([]);
  const cursor = cursors.at(-1);
  const read = useOperation<'usage.events'>(
    apiPath(['usage', customer, meter, 'events'], { ...span, cursor, limit: PAGE }),
  );
  return (
    <Loaded read={read} lines={8}>
      {({ data, nextCursor }) => {
        const rows = find === '' ? data : data.filter((event) => JSON.stringify(event).includes(find));
        return (
          <>
            <Table label="Usage events" columns={EVENT_COLUMNS} rows={rows} empty="There is no such event." />
            <div class="row">
              <span class="muted small">
                {counted(rows.length, 'event')}
                {nextCursor ? ', and there are more' : ''}
              </span>
              <button
                type="button"
                class="button"
                disabled={cursors.length === 0}
                onClick={() => setCursors(cursors.slice(0, -1))}
              >
                Earlier
              </button>
              <button
                type="button"
                class="button"
                disabled={nextCursor === undefined}
                onClick={() => nextCursor && setCursors([...cursors, nextCursor])}
              >
                Later
              </button>
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

export const EVENT_COLUMNS: ReadonlyArray<Column<UsageEvent>> = [
  { title: 'Occurred', isFit: true, cell: ({ occurredAt }) => <Time at={occurredAt} /> },
  { title: 'Event', cell: ({ id }) => <code class="id">{id}</code> },
  { title: 'Value', isEnd: true, cell: ({ value }) => amount(value) },
  { title: 'Properties', cell: ({ properties = {} }) => propertiesText(properties) },
  { title: 'Received', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Names and values in a line. */
export function propertiesText(properties: Record<string, unknown>): string {
  const pairs = Object.entries(properties).map(([name, value]) => `${name}: ${String(value)}`);
  return pairs.join(', ') || '–';
}
