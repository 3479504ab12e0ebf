import { useState } from 'preact/hooks';
import { type Live, type LiveEvent, useLive } from '../../api/live.ts';
import { apiPath } from '../../api/rest.ts';
import { linkTo, usePlace } from '../../app/place.ts';
import { QueryField } from '../../app/query-field.tsx';
import { amount, count, counted } from '../../design/figures.ts';
import { Failure } from '../../design/loaded.tsx';
import { Badge, Card, Notice, type Tone } from '../../design/pieces.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Time } from '../../design/times.tsx';
import { useCustomerNames } from '../customer-names.ts';
import { propertiesText } from './event-list.tsx';

const STATES: Record<Live['state'], readonly [Tone, string]> = {
  connecting: ['plain', 'Connecting'],
  open: ['good', 'Live'],
  waiting: ['warn', 'Connecting again'],
  stopped: ['plain', 'Paused'],
};

/** Events as they are counted, of all customers or of one. */
export function LiveCard() {
  const { customer = '', meter = '' } = usePlace().query;
  const [isOn, setOn] = useState(true);
  const path = apiPath(['usage', 'live'], { customerId: customer, meterId: meter });
  const { state, events, leftOut, error } = useLive(isOn ? path : undefined);
  const names = useCustomerNames(events.slice(0, NAMED_MAX).map(({ customerId }) => customerId));
  const [tone, text] = STATES[state];
  return (
    <Card
      title="As they are counted"
      actions={
        <>
          <Badge tone={tone}>{text}</Badge>
          <button type="button" class="button" aria-pressed={!isOn} onClick={() => setOn(!isOn)}>
            {isOn ? 'Pause' : 'Continue'}
          </button>
        </>
      }
    >
      <div class="fields">
        <QueryField name="customer" label="Only of customer" placeholder="Its id or your own id" />
        <QueryField name="meter" label="Only of meter" placeholder="The key of a meter" />
      </div>
      {error ? <Failure error={error} /> : null}
      {leftOut > 0 ? <Notice>{count(leftOut)} more were counted than are shown here.</Notice> : null}
      <Table
        label="Events as they are counted"
        columns={columnsWith(names)}
        rows={events}
        empty="Nothing was counted since this screen was opened. New events appear here within seconds."
      />
      {events.length > 0 ? <p class="muted small">The last {counted(events.length, 'event')}.</p> : null}
    </Card>
  );
}

/** Customers whose names are read at once. */
const NAMED_MAX = 50;

function columnsWith(names: ReadonlyMap<string, string>): Array<Column<LiveEvent>> {
  return [
    { title: 'Counted', isFit: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      title: 'Customer',
      cell: ({ customerId }) => (
        <a href={linkTo(['customers', customerId])}>{names.get(customerId) ?? customerId}</a>
      ),
    },
    { title: 'Meter', cell: ({ meterId }) => <code>{meterId}</code> },
    { title: 'Value', isEnd: true, cell: ({ value }) => amount(value) },
    { title: 'Properties', cell: ({ properties = {} }) => propertiesText(properties) },
    { title: 'Event', cell: ({ id }) => <code class="id">{id}</code> },
  ];
}
