import type { ComponentChildren } from 'preact';
import { Empty } from './pieces.tsx';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Numbers are at the end. */
  isEnd?: boolean;
  /** As narrow as its content. */
  isFit?: boolean;
  /** For screen readers and no other: a column of buttons. */
  isUntitled?: boolean;
}

interface TableProps<Row> {
  /** What it lists, for screen readers. */
  label: string;
  columns: ReadonlyArray<Column<Row>>;
  rows: readonly Row[];
  /** In place of no rows. */
  empty: ComponentChildren;
  classOf?: (row: Row) => string | undefined;
}

/** On phones each row is a card whose lines have the titles of the columns. */
export function Table<Row>({ label, columns, rows, empty, classOf }: TableProps<Row>) {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    <div class="table-box">
      {/* The roles are those that a table has anyway: phones lay it out as a grid, which takes them away. */}
      <table class="table" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th role="columnheader" scope="col" class={classes(column)}>
                {column.isUntitled ? <span class="unseen">{column.title}</span> : column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" class={classOf?.(row)}>
              {columns.map((column) => (
                <td role="cell" data-label={column.isUntitled ? '' : column.title} class={classes(column)}>
                  <div>{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classes({ isEnd, isFit }: { isEnd?: boolean; isFit?: boolean }): string | undefined {
  return [isEnd ? 'end' : '', isFit ? 'fit' : ''].filter(Boolean).join(' ') || undefined;
}
