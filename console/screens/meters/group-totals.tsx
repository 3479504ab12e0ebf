import { useOperation } from '../../api/rest.ts';
import { linkTo } from '../../app/place.ts';
import { amount, count } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Share } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { useCustomerNames } from '../customer-names.ts';
import { groupName, groupTitle, named, type Question, type Report, usagePath } from './explored.ts';

type Entry = Report['data'][number];

const GROUPS_LISTED = 100;

/** Each group in all of the time, largest first. */
export function GroupTotals({ meterKey, question }: { meterKey: string; question: Question }) {
  const path = usagePath(meterKey, { ...question, step: '' }, GROUPS_LISTED);
  const read = useOperation<'meterUsage.retrieve'>(path);
  const customers = (read.data?.data ?? []).flatMap(({ group }) => group.customerId ?? []);
  const names = useCustomerNames(customers);
  return (
    <Card title={`In all, by ${groupTitle([question.group])}`}>
      <Loaded read={read}>
        {(report) => (
          <Table
            label={`Totals by ${question.group}`}
            columns={columnsOf(report, names)}
            rows={report.data}
            empty="There is no usage in this time."
          />
        )}
      </Loaded>
    </Card>
  );
}

function columnsOf(report: Report, names: ReadonlyMap<string, string>): Array<Column<Entry>> {
  const { groupBy, meterId, unit, total: all } = report;
  const name = (group: Entry['group']) => {
    const text = groupName(groupBy, named(group, names), meterId);
    const { customerId } = group;
    if (customerId === undefined) return text;
    return <a href={linkTo(['customers', customerId], { tab: 'usage', meter: meterId })}>{text}</a>;
  };
  const share = (total: string) => (Number(all) === 0 ? 0 : Number(total) / Number(all));
  return [
    { title: groupTitle(groupBy), cell: ({ group }) => name(group) },
    { title: unit ? `Total (${unit})` : 'Total', isEnd: true, cell: ({ total }) => amount(total) },
    { title: 'Events', isEnd: true, cell: (entry) => count(entry.count) },
    { title: 'Share', cell: ({ total }) => <Share share={share(total)} of="Part of the total" isPart /> },
  ];
}
