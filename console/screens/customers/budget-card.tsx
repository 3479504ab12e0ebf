import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed } from '../../api/wire.ts';
import { amount } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card, Empty, Share } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { BudgetDialog } from './budget-dialog.tsx';
import type { Customer } from './shapes.ts';

export type Budget = Listed<'budgets.list'>;

interface BudgetCardProps {
  customer: Customer;
  counter: Listed<'usage.list'>;
}

const BUDGETS_READ = 100;

/** The thresholds of one meter that send an event when they are reached. */
export function BudgetCard({ customer, counter }: BudgetCardProps) {
  const [isOpen, setOpen] = useState(false);
  const path = apiPath(['customers', customer.id, 'budgets'], { pageSize: BUDGETS_READ });
  const read = useOperation<'budgets.list'>(path);
  const budget = read.data?.data.find(({ meterId }) => meterId === counter.meterId);
  return (
    <Card
      title={`Budget of ${counter.meterId}`}
      actions={
        <>
          <button type="button" class="button" disabled={!read.data} onClick={() => setOpen(true)}>
            {budget ? 'Change budget' : 'Set budget'}
          </button>
          {budget ? (
            <button type="button" class="button" onClick={() => askToRemove(customer, budget)}>
              Remove budget
            </button>
          ) : null}
        </>
      }
    >
      <Loaded read={read} lines={1}>
        {() =>
          budget ? (
            <Thresholds budget={budget} current={counter.current} />
          ) : (
            <Empty>None. A budget sends usage.threshold events and rejects no usage.</Empty>
          )
        }
      </Loaded>
      {isOpen ? (
        <BudgetDialog
          customer={customer}
          meterKey={counter.meterId}
          given={budget}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </Card>
  );
}

function Thresholds({ budget: { soft, hard, meterId }, current }: { budget: Budget; current: string }) {
  const given = [
    { name: 'Soft', value: soft },
    { name: 'Hard', value: hard },
  ].filter((one): one is { name: string; value: string } => one.value !== undefined);
  return (
    <Table
      label={`Budget of ${meterId}`}
      rows={given}
      empty="None."
      columns={[
        { title: 'Threshold', cell: ({ name }) => name },
        { title: 'In each billing period', isEnd: true, cell: ({ value }) => amount(value) },
        {
          title: 'Used',
          cell: ({ name, value }) => (
            <Share share={Number(value) === 0 ? 1 : Number(current) / Number(value)} of={`${name} budget`} />
          ),
        },
      ]}
    />
  );
}

function askToRemove({ id, name }: Customer, { meterId }: Budget): void {
  askToChange({
    title: `Remove the budget of ${meterId}?`,
    effect: `Usage of ${name} no longer sends usage.threshold events for it. Limits still do.`,
    verb: 'Remove budget',
    isDanger: true,
    request: { method: 'DELETE', path: apiPath(['customers', id, 'budgets', meterId]) },
    done: 'The budget was removed.',
  });
}
