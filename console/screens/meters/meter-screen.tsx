import { useState } from 'preact/hooks';
import { saveFile } from '../../api/csv.ts';
import { apiPath, useOperation } from '../../api/rest.ts';
import { send } from '../../api/send.ts';
import { changeQuery, linkTo, usePlace } from '../../app/place.ts';
import { QueryField } from '../../app/query-field.tsx';
import { Screen } from '../../app/screen.tsx';
import { Choice } from '../../design/fields.tsx';
import { words } from '../../design/figures.ts';
import { Failure, Loaded } from '../../design/loaded.tsx';
import { Card, Facts, Notice } from '../../design/pieces.tsx';
import type { Span } from '../../design/ranges.ts';
import { say } from '../../design/toasts.tsx';
import { TypedField } from '../../design/typed-field.tsx';
import { StatusBadge } from '../status-badge.tsx';
import { filterFault, lacksGroup } from './event-property.ts';
import {
  GROUPS_SAVED,
  type Question,
  RANGES,
  type Range,
  STEPS,
  type Step,
  spanBefore,
  spanOf,
  usagePath,
} from './explored.ts';
import { Explored } from './explored-usage.tsx';
import { GroupTotals } from './group-totals.tsx';

export function MeterScreen({ meterKey }: { meterKey: string }) {
  const meter = useOperation<'meters.retrieve'>(apiPath(['meters', meterKey]));
  const { range, step, group = '', filter = '', timezone = 'UTC', compare = '' } = usePlace().query;
  const [nowMs] = useState(Date.now);
  const chosen = RANGES.find(([one]) => one === range)?.[0] ?? '30-days';
  const span = spanOf(chosen, nowMs);
  const every = STEPS.find(([one]) => one === step)?.[0] ?? 'day';
  const question: Question = { span, step: every, timezone, group, filter };
  const fault = filterFault(filter);
  const path = fault === undefined ? usagePath(meterKey, question) : undefined;
  const read = useOperation<'meterUsage.retrieve'>(path);
  const before = useOperation<'meterUsage.retrieve'>(
    compare === '' || fault !== undefined
      ? undefined
      : usagePath(meterKey, { ...question, span: spanBefore(span), group: '' }),
  );
  return (
    <Screen
      title={meter.data?.name ?? meterKey}
      above={{ text: 'Meters', link: linkTo(['meters']) }}
      badges={meter.data ? <StatusBadge status={meter.data.status} /> : null}
      actions={
        fault === undefined ? (
          <CsvButton meterKey={meterKey} question={question} isCompared={compare !== ''} />
        ) : null
      }
    >
      {meter.error && !meter.data ? <Failure error={meter.error} onRetry={meter.reload} /> : null}
      <Card title="Usage of all customers">
        <Controls range={chosen} step={every} />
        {group !== '' && read.data && lacksGroup(read.data) ? (
          <Notice tone="warn">
            No event in this time has the property <code>{group}</code>. All usage is in one group, without
            it.
          </Notice>
        ) : null}
        {fault === undefined ? (
          <Loaded read={read} lines={8}>
            {(report) => <Explored report={report} before={compare === '' ? undefined : before.data} />}
          </Loaded>
        ) : (
          <Notice tone="bad">{fault}</Notice>
        )}
        {before.error ? <Notice tone="bad">{before.error.message}</Notice> : null}
      </Card>
      {group === '' || fault !== undefined ? null : <GroupTotals meterKey={meterKey} question={question} />}
      {meter.data ? <About meter={meter.data} /> : null}
    </Screen>
  );
}

function Controls({ range, step }: { range: Range; step: Step }) {
  const { filter = '', timezone = 'UTC', compare = '' } = usePlace().query;
  return (
    <div class="fields">
      <Choice label="Time" value={range} options={RANGES} onChoose={(one) => changeQuery({ range: one })} />
      <Choice label="By" value={step} options={STEPS} onChoose={(one) => changeQuery({ step: one })} />
      <QueryField
        name="group"
        label="Group by"
        offered={['customerId', 'region']}
        placeholder="customerId or a property"
      />
      <TypedField
        label="Only where"
        value={filter}
        placeholder="region=eu"
        onInput={(one) => changeQuery({ filter: one })}
      />
      <Choice
        label="Time zone"
        value={timezone}
        options={[...new Set(['UTC', ownTimezone(), timezone])].map((one) => [one, one] as const)}
        onChoose={(one) => changeQuery({ timezone: one })}
      />
      <Choice
        label="Compare with"
        value={compare}
        options={COMPARISONS}
        onChoose={(one) => changeQuery({ compare: one })}
      />
    </div>
  );
}

const COMPARISONS = [
  ['', 'Nothing'],
  ['before', 'The time before'],
] as const;

function ownTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

interface CsvButtonProps {
  meterKey: string;
  question: Question;
  isCompared: boolean;
}

/** All entries, as the API writes them; what they are compared with comes after them. */
function CsvButton({ meterKey, question, isCompared }: CsvButtonProps) {
  const { from, to } = question.span;
  const read = async (span: Span) => {
    const path = usagePath(meterKey, { ...question, span }, GROUPS_SAVED);
    const { body } = await send({ method: 'GET', path, headers: { Accept: 'text/csv' } });
    return String(body);
  };
  const save = async () => {
    const present = await read(question.span);
    const before = isCompared ? await read(spanBefore(question.span)) : '';
    const content = present + before.slice(before.indexOf('\n') + 1);
    saveFile(`usage-${meterKey}-${from.slice(0, 10)}-${to.slice(0, 10)}.csv`, 'text/csv', content);
  };
  return (
    <button
      type="button"
      class="button"
      onClick={() => void save().catch((error: Error) => say(`No file was made. ${error.message}`))}
    >
      Download CSV
    </button>
  );
}

interface AboutProps {
  meter: { id: string; key: string; aggregation: string; unit?: string; property?: string; source: string };
}

function About({ meter: { id, key, aggregation, unit, property, source } }: AboutProps) {
  return (
    <Card title="Meter">
      <Facts
        facts={[
          ['Key', <code>{key}</code>],
          ['Id', <code>{id}</code>],
          ['Counts', property === undefined ? words(aggregation) : `${words(aggregation)} of ${property}`],
          ['Unit', unit ?? '–'],
          ['Made by', source === 'auto' ? 'the first usage event with its key' : 'the API'],
        ]}
      />
    </Card>
  );
}
