import { apiPath, useOperation } from '../../api/rest.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { Loaded } from '../../design/loaded.tsx';
import { Card } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { TypedField } from '../../design/typed-field.tsx';
import { useCustomerNames } from '../customer-names.ts';
import { EVENT_COLUMNS, type UsageEvent } from './event-list.tsx';
import { soughtAs } from './sought-as.ts';

/** Finds an event of any customer. */
export function OneEventCard() {
  const { event = '' } = usePlace().query;
  return (
    <Card title="Find one event">
      <div class="fields">
        <TypedField
          label="Idempotency key or event id"
          type="search"
          value={event}
          placeholder="Of any customer"
          onInput={(one) => changeQuery({ event: one })}
        />
      </div>
      {event.trim() === '' ? null : <Found text={event.trim()} />}
    </Card>
  );
}

function Found({ text }: { text: string }) {
  const read = useOperation<'usage.findEvents'>(apiPath(['usage', 'events'], soughtAs(text)));
  const names = useCustomerNames((read.data?.data ?? []).map(({ customerId }) => customerId));
  return (
    <Loaded read={read} lines={2}>
      {({ data }) => (
        <Table
          label="The event with this key or id"
          columns={columnsWith(names)}
          rows={data}
          empty={
            <>
              No event with this key or id was counted in this mode.{' '}
              <button type="button" class="button" onClick={read.reload}>
                Look again
              </button>
            </>
          }
        />
      )}
    </Loaded>
  );
}

function columnsWith(names: ReadonlyMap<string, string>): Array<Column<UsageEvent>> {
  return [
    {
      title: 'Customer',
      cell: ({ customerId }) => (
        <a href={linkTo(['customers', customerId])}>{names.get(customerId) ?? customerId}</a>
      ),
    },
    { title: 'Meter', cell: ({ meterId }) => <code>{meterId}</code> },
    ...EVENT_COLUMNS,
  ];
}
