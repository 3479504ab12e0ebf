import { useState } from 'preact/hooks';
import { apiPath, useOperation } from '../../api/rest.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { Choice, Field } from '../../design/fields.tsx';
import { Failure } from '../../design/loaded.tsx';
import { Card, Empty, Notice } from '../../design/pieces.tsx';
import { betweenDays, DAY_MS } from '../../design/ranges.ts';
import { TypedField } from '../../design/typed-field.tsx';
import { EventList } from './event-list.tsx';
import { LiveCard } from './live-card.tsx';
import { OneEventCard } from './one-event-card.tsx';

const TABS = [
  ['live', 'Live'],
  ['find', 'Find'],
] as const;

/** Usage events: as they are counted, and those that are stored. */
export function EventsScreen() {
  const { tab = 'live' } = usePlace().query;
  return (
    <Screen title="Events">
      <nav class="tabs" aria-label="Events">
        {TABS.map(([name, title]) => (
          <a
            key={name}
            href={linkTo(['events'], { tab: name })}
            aria-current={name === tab ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {tab === 'find' ? (
        <>
          <OneEventCard />
          <EventsOfCustomer />
        </>
      ) : (
        <LiveCard />
      )}
    </Screen>
  );
}

const METERS_SHOWN = 100;

function EventsOfCustomer() {
  const { customer = '', meter = '', first, last, find = '' } = usePlace().query;
  const [nowMs] = useState(Date.now);
  const meters = useOperation<'meters.list'>(apiPath(['meters'], { pageSize: METERS_SHOWN }));
  const keys = (meters.data?.data ?? []).map(({ key }) => key);
  const shownMeter = meter || (keys[0] ?? '');
  const [from, to] = [first ?? dayOf(nowMs - 7 * DAY_MS), last ?? dayOf(nowMs)];
  const span = betweenDays(from, to);
  return (
    <Card title="Events of a customer">
      <div class="fields">
        <TypedField
          label="Customer"
          value={customer}
          placeholder="Its id or your own id"
          onInput={(one) => changeQuery({ customer: one })}
        />
        <Choice
          label="Meter"
          value={shownMeter}
          options={keys.map((key) => [key, key] as const)}
          onChoose={(one) => changeQuery({ meter: one })}
        />
        <Field
          label="First day (UTC)"
          type="date"
          value={from}
          onInput={(day) => changeQuery({ first: day })}
        />
        <Field label="Last day (UTC)" type="date" value={to} onInput={(day) => changeQuery({ last: day })} />
        <TypedField
          label="Only with this text"
          type="search"
          value={find}
          placeholder="An event id or a property"
          onInput={(one) => changeQuery({ find: one })}
        />
      </div>
      {meters.error ? <Failure error={meters.error} onRetry={meters.reload} /> : null}
      {span ? null : <Notice>Choose a last day that is not before the first one.</Notice>}
      {span && customer !== '' && shownMeter !== '' ? (
        <EventList
          key={JSON.stringify([customer, shownMeter, span])}
          question={{ customer, meter: shownMeter, span, find }}
        />
      ) : (
        <Empty>Choose a customer and a meter to see its events, oldest first.</Empty>
      )}
    </Card>
  );
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
