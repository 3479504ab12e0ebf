import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { Decimal } from '../../api/exact-body.ts';
import { apiPath } from '../../api/rest.ts';
import { FormDialog } from '../../design/dialog.tsx';
import { Choice, Field } from '../../design/fields.tsx';
import { amount } from '../../design/figures.ts';
import { NO_NUMBER, numberOf } from '../../design/typed-number.ts';
import { ExpiryField, expiryOf } from './expiry-field.tsx';
import type { Customer, Feature } from './shapes.ts';

interface OverrideDialogProps {
  customer: Customer;
  feature: Feature;
  onClose: () => void;
}

type Kind = 'yes' | 'no' | 'unlimited' | 'number';

/** What to grant whatever the plans say. Asks before it is stored. */
export function OverrideDialog({ customer, feature, onClose }: OverrideDialogProps) {
  const isBoolean = feature.type === 'boolean';
  const [kind, setKind] = useState<Kind>(isBoolean ? 'yes' : 'number');
  const [limit, setLimit] = useState('');
  const [expires, setExpires] = useState('');
  const [reason, setReason] = useState('');
  const number = numberOf(limit);
  const isBad = kind === 'number' && number === undefined;
  const ask = () => {
    if (isBad) return;
    onClose();
    askToChange({
      title: `Override ${feature.name} for ${customer.name}?`,
      effect: (
        <p>
          It is then {kind === 'number' ? amount(number ?? '') : kind}, whatever the plans of {customer.name}{' '}
          grant
          {expires === '' ? '.' : ` until ${expires}.`}
        </p>
      ),
      verb: 'Override',
      request: {
        method: 'PUT',
        path: apiPath(['customers', customer.id, 'overrides', feature.key]),
        body: {
          value: grantedValue(kind, number ?? ''),
          ...expiryOf(expires),
          ...(reason === '' ? {} : { reason }),
        },
      },
      done: `${feature.name} is overridden.`,
    });
  };
  return (
    <FormDialog title={`Override ${feature.name}`} onClose={onClose} onContinue={ask}>
      <Choice label="Value" value={kind} options={isBoolean ? BOOLEAN : NUMBER} onChoose={setKind} />
      {kind === 'number' ? (
        <Field
          label="Limit"
          value={limit}
          onInput={setLimit}
          isRequired
          error={limit !== '' && isBad ? NO_NUMBER : undefined}
        />
      ) : null}
      <ExpiryField value={expires} onInput={setExpires} />
      <Field label="Reason (optional)" value={reason} onInput={setReason} placeholder="For people" />
    </FormDialog>
  );
}

const BOOLEAN = [
  ['yes', 'Granted'],
  ['no', 'Denied'],
] as const;
const NUMBER = [
  ['number', 'A limit'],
  ['unlimited', 'Unlimited'],
] as const;

function grantedValue(kind: Kind, limit: string): boolean | null | Decimal {
  if (kind === 'number') return new Decimal(limit);
  return kind === 'unlimited' ? null : kind === 'yes';
}
