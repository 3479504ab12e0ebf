import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { apiPath, useOperation } from '../../api/rest.ts';
import { Form } from '../../design/fields.tsx';
import { Loaded } from '../../design/loaded.tsx';
import { Notice } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { NO_NUMBER } from '../../design/typed-number.ts';
import { DifferenceTable } from './difference-table.tsx';
import { type Draft, differences, draftOf, entitlementsOf, faultOf } from './entitlement-drafts.ts';
import type { Feature, Given, Plan } from './shapes.ts';
import { type Subscribers, SubscribersTouched } from './subscribers.tsx';

interface EntitlementsFormProps {
  plan: Plan;
  given: readonly Given[];
  etag: string | undefined;
  subscribers: Subscribers | undefined;
  onClose: () => void;
}

const FEATURES_SHOWN = 100;

/** Every feature with what the plan gives of it. What is not shown stays as it is. */
export function EntitlementsForm(props: EntitlementsFormProps) {
  const read = useOperation<'features.list'>(apiPath(['features'], { pageSize: FEATURES_SHOWN }));
  return (
    <Loaded read={read}>
      {({ data, total }) => (
        <>
          {total > data.length ? (
            <Notice>The newest {data.length} features are shown. Change others through the API.</Notice>
          ) : null}
          <Editor {...props} features={data} />
        </>
      )}
    </Loaded>
  );
}

function Editor({ features, ...props }: EntitlementsFormProps & { features: readonly Feature[] }) {
  const { plan, given, etag, subscribers, onClose } = props;
  const [drafts, setDrafts] = useState(() => new Map(features.map((one) => [one.key, draftOf(one, given)])));
  const [isTried, setTried] = useState(false);
  const faulty = features.filter(({ key }) => faultOf(drafts.get(key) ?? NOTHING) !== undefined);
  const next = faulty.length > 0 ? undefined : entitlementsOf(given, drafts);
  const changed = next ? differences(given, next) : [];
  const ask = () => {
    setTried(true);
    if (changed.length === 0) return;
    askToChange({
      title: `Change the entitlements of ${plan.name}?`,
      effect: (
        <>
          <DifferenceTable rows={changed} />
          <SubscribersTouched subscribers={subscribers} />
        </>
      ),
      verb: 'Change entitlements',
      request: {
        method: 'PUT',
        path: apiPath(['plans', plan.id, 'entitlements']),
        body: { entitlements: next },
        headers: etag === undefined ? {} : { 'If-Match': etag },
      },
      done: `${plan.name} has new entitlements.`,
      onDone: onClose,
    });
  };
  const put = (key: string, draft: Draft) => setDrafts(new Map(drafts).set(key, draft));
  return (
    <Form onSubmit={ask}>
      <Table
        label="Entitlements to edit"
        rows={features}
        empty="There is no feature yet. Create features first."
        columns={[
          { title: 'Feature', cell: ({ name }) => name },
          {
            title: 'Value',
            cell: (feature) => (
              <DraftFields feature={feature} draft={drafts.get(feature.key) ?? NOTHING} onChange={put} />
            ),
          },
        ]}
      />
      {isTried && changed.length === 0 ? <Notice tone="warn">{whyNot(faulty)}</Notice> : null}
      <div class="row row-end">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button button-primary">
          Review {changed.length === 0 ? 'changes' : `${changed.length} changed`}
        </button>
      </div>
    </Form>
  );
}

const NOTHING: Draft = { kind: 'none', limit: '', soft: false };

function whyNot(faulty: readonly Feature[]): string {
  if (faulty.length === 0) return 'Nothing is different yet.';
  return `${faulty.map(({ name }) => name).join(', ')}: ${NO_NUMBER}`;
}

interface DraftFieldsProps {
  feature: Feature;
  draft: Draft;
  onChange: (key: string, draft: Draft) => void;
}

function DraftFields({ feature: { key, name, type }, draft, onChange }: DraftFieldsProps) {
  const options = type === 'boolean' ? BOOLEAN : NUMBER;
  return (
    <div class="row field draft">
      <select
        aria-label={`What the plan gives of ${name}`}
        value={draft.kind}
        onChange={(event) => onChange(key, { ...draft, kind: event.currentTarget.value as Draft['kind'] })}
      >
        {options.map(([kind, text]) => (
          <option key={kind} value={kind} selected={kind === draft.kind}>
            {text}
          </option>
        ))}
      </select>
      {draft.kind === 'limit' ? (
        <>
          <input
            aria-label={`Limit of ${name}`}
            aria-invalid={faultOf(draft) !== undefined}
            inputMode="decimal"
            value={draft.limit}
            onInput={(event) => onChange(key, { ...draft, limit: event.currentTarget.value })}
          />
          <label class="row small">
            <input
              type="checkbox"
              checked={draft.soft}
              onChange={(event) => onChange(key, { ...draft, soft: event.currentTarget.checked })}
            />
            May be exceeded
          </label>
        </>
      ) : null}
    </div>
  );
}

const BOOLEAN = [
  ['none', 'Nothing'],
  ['yes', 'Included'],
  ['no', 'Not included'],
] as const;
const NUMBER = [
  ['none', 'Nothing'],
  ['limit', 'A limit'],
  ['unlimited', 'Unlimited'],
] as const;
