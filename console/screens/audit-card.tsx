import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../api/rest.ts';
import type { Listed } from '../api/wire.ts';
import { Loaded } from '../design/loaded.tsx';
import { Pager } from '../design/pager.tsx';
import { Card, Code } from '../design/pieces.tsx';
import { type Column, Table } from '../design/table.tsx';
import { Time } from '../design/times.tsx';

type Entry = Listed<'auditLog.list'>;

interface AuditCardProps {
  title: string;
  /** Changes of the customer itself and of what it has. */
  customerId: string;
}

/** Who changed what of a customer, newest first. */
export function AuditCard({ title, customerId }: AuditCardProps) {
  const [page, setPage] = useState(1);
  const read = useOperation<'auditLog.list'>(apiPath(['audit-log'], { customerId, page }));
  return (
    <Card title={title}>
      <Loaded read={read} lines={6}>
        {(entries) => (
          <>
            <AuditTable label={title} entries={entries.data} />
            <Pager page={entries} onTurn={setPage} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

export function AuditTable({ label, entries }: { label: string; entries: readonly Entry[] }) {
  return <Table label={label} columns={COLUMNS} rows={entries} empty="Nothing was changed yet." />;
}

const COLUMNS: ReadonlyArray<Column<Entry>> = [
  { title: 'When', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Operation', isFit: true, cell: ({ action }) => <code>{action}</code> },
  { title: 'Object', cell: ({ objectId }) => <code class="id">{objectId}</code> },
  { title: 'By', cell: ({ actor }) => <code class="id">{actor}</code> },
  { title: 'Changed', cell: (entry) => <Changed entry={entry} /> },
];

function Changed({ entry: { before, after } }: { entry: Entry }) {
  const names = changedNames(before ?? {}, after ?? {});
  return (
    <details>
      <summary>{before == null ? 'Created' : after == null ? 'Deleted' : shortened(names)}</summary>
      {before == null ? null : (
        <>
          <h3>Before</h3>
          <Code text={JSON.stringify(before, null, 2)} />
        </>
      )}
      {after == null ? null : (
        <>
          <h3>After</h3>
          <Code text={JSON.stringify(after, null, 2)} />
        </>
      )}
    </details>
  );
}

const NAMES_SHOWN = 2;

function shortened(names: readonly string[]): string {
  const further = names.length - NAMES_SHOWN;
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  return further > 0 ? `${shown} and ${further} more` : shown;
}

/** Of members whose value differs. */
function changedNames(before: object, after: object): string[] {
  const [old, present] = [before, after].map((one) => new Map(Object.entries(one)));
  const names = [...new Set([...(old?.keys() ?? []), ...(present?.keys() ?? [])])];
  const isChanged = (name: string) => JSON.stringify(old?.get(name)) !== JSON.stringify(present?.get(name));
  const changed = names.filter((name) => name !== 'updatedAt' && isChanged(name));
  return changed.length > 0 ? changed : ['Nothing'];
}
