import { Table } from '../../design/table.tsx';
import type { Difference } from './entitlement-drafts.ts';

/** What is added, removed and changed. */
export function DifferenceTable({ rows }: { rows: readonly Difference[] }) {
  return (
    <Table
      label="Differences"
      rows={rows}
      empty="There is no difference."
      classOf={({ before, after }) =>
        before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
      }
      columns={[
        { title: 'Name', cell: ({ name }) => <code>{name}</code> },
        { title: 'Before', cell: ({ before }) => before ?? '–' },
        { title: 'After', cell: ({ after }) => after ?? '–' },
      ]}
    />
  );
}
