import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { Decimal } from '../../api/exact-body.ts';
import { apiPath, useOperation } from '../../api/rest.ts';
import type { Listed, Responded } from '../../api/wire.ts';
import { FormDialog } from '../../design/dialog.tsx';
import { Field } from '../../design/fields.tsx';
import { amount, words } from '../../design/figures.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Pager } from '../../design/pager.tsx';
import { Badge, Card, Figure } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { numberOf } from '../../design/typed-number.ts';
import { ExpiryField, expiryOf } from './expiry-field.tsx';
import type { Customer } from './shapes.ts';

type Grant = Responded<'credits.retrieve'>['grants'][number];
type Entry = Listed<'credits.listLedger'>;

export function CreditsTab({ customer }: { customer: Customer }) {
  const [isGranting, setGranting] = useState(false);
  const read = useOperation<'credits.retrieve'>(apiPath(['customers', customer.id, 'credits']));
  return (
    <>
      <Loaded read={read}>
        {({ balance, unpaid, grants }) => (
          <>
            <dl class="figures">
              <Figure name="Balance" value={amount(balance)} note="credits left in all grants" />
              <Figure name="Unpaid" value={amount(unpaid)} note="the next grant pays it first" />
            </dl>
            <Card
              title="Grants"
              actions={
                <button type="button" class="button" onClick={() => setGranting(true)}>
                  Grant credits
                </button>
              }
            >
              <Table label="Grants" columns={GRANTS} rows={grants} empty="No grant has credits left." />
            </Card>
          </>
        )}
      </Loaded>
      <Ledger customer={customer} />
      {isGranting ? <GrantDialog customer={customer} onClose={() => setGranting(false)} /> : null}
    </>
  );
}

const GRANTS: ReadonlyArray<Column<Grant>> = [
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Priority', isEnd: true, cell: ({ priority }) => priority },
  { title: 'Granted', isEnd: true, cell: (grant) => amount(grant.amount) },
  { title: 'Left', isEnd: true, cell: ({ remaining }) => amount(remaining) },
  { title: 'Expires', cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'Never') },
];

const ENTRIES: ReadonlyArray<Column<Entry>> = [
  { title: 'When', isFit: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  { title: 'Entry', cell: ({ type }) => <Badge>{words(type)}</Badge> },
  { title: 'Meter', cell: ({ meterKey }) => (meterKey ? <code>{meterKey}</code> : '–') },
  { title: 'Balance change', isEnd: true, cell: (entry) => amount(entry.amount) },
  { title: 'Unpaid change', isEnd: true, cell: ({ unpaid }) => amount(unpaid) },
];

function Ledger({ customer }: { customer: Customer }) {
  const [page, setPage] = useState(1);
  const read = useOperation<'credits.listLedger'>(
    apiPath(['customers', customer.id, 'credits', 'ledger'], { page }),
  );
  return (
    <Card title="Ledger">
      <Loaded read={read}>
        {(ledger) => (
          <>
            <Table
              label="Credit ledger"
              columns={ENTRIES}
              rows={ledger.data}
              empty="There is no entry yet."
            />
            <Pager page={ledger} onTurn={setPage} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

function GrantDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const [credits, setCredits] = useState('');
  const [reason, setReason] = useState('');
  const [expires, setExpires] = useState('');
  const number = numberOf(credits) ?? '0';
  const isGood = Number(number) > 0;
  const ask = () => {
    if (!isGood) return;
    onClose();
    askToChange({
      title: `Grant ${amount(number)} credits to ${customer.name}?`,
      effect: 'They pay an unpaid amount first, and then usage beyond limits. A grant cannot be taken back.',
      verb: 'Grant credits',
      request: {
        method: 'POST',
        path: apiPath(['customers', customer.id, 'credits']),
        body: {
          amount: new Decimal(number),
          reason,
          ...expiryOf(expires),
        },
      },
      done: `${amount(number)} credits were granted.`,
    });
  };
  return (
    <FormDialog title={`Grant credits to ${customer.name}`} onClose={onClose} onContinue={ask}>
      <Field
        label="Credits"
        value={credits}
        onInput={setCredits}
        isRequired
        error={credits !== '' && !isGood ? 'Enter a number above 0, such as 250 or 60,000.' : undefined}
      />
      <Field label="Reason" value={reason} onInput={setReason} isRequired />
      <ExpiryField value={expires} onInput={setExpires} />
    </FormDialog>
  );
}
