import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { Decimal } from '../../api/exact-body.ts';
import { apiPath } from '../../api/rest.ts';
import { Dialog } from '../../design/dialog.tsx';
import { Field, Form } from '../../design/fields.tsx';
import { amount } from '../../design/figures.ts';
import { Notice } from '../../design/pieces.tsx';
import type { Budget } from './budget-card.tsx';
import { type Thresholds, thresholdsOf } from './budget-thresholds.ts';
import type { Customer } from './shapes.ts';

interface BudgetDialogProps {
  customer: Customer;
  meterKey: string;
  given: Budget | undefined;
  onClose: () => void;
}

/** The whole budget: a threshold that is left empty is removed. Asks before it is stored. */
export function BudgetDialog({ customer, meterKey, given, onClose }: BudgetDialogProps) {
  const [soft, setSoft] = useState(given?.soft ?? '');
  const [hard, setHard] = useState(given?.hard ?? '');
  const [fault, setFault] = useState<string>();
  const ask = () => {
    const read = thresholdsOf(soft, hard);
    if ('fault' in read) return setFault(read.fault);
    onClose();
    askToChange({
      title: `Set the budget of ${meterKey} for ${customer.name}?`,
      effect: <p>{effectOf(read)} Usage of the running period counts. No usage is rejected.</p>,
      verb: 'Set budget',
      request: {
        method: 'PUT',
        path: apiPath(['customers', customer.id, 'budgets', meterKey]),
        body: Object.fromEntries(Object.entries(read).map(([name, text]) => [name, new Decimal(text)])),
      },
      done: `The budget of ${meterKey} is set.`,
    });
  };
  return (
    <Dialog title={`Budget of ${meterKey}`} onClose={onClose}>
      <Form onSubmit={ask}>
        <Field label="Soft threshold" value={soft} onInput={setSoft} placeholder="48,000" isFocused />
        <Field label="Hard threshold" value={hard} onInput={setHard} placeholder="60,000" />
        {fault === undefined ? null : <Notice tone="bad">{fault}</Notice>}
        <div class="row row-end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary">
            Continue
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

function effectOf({ soft, hard }: Thresholds): string {
  const texts = [soft, hard].filter((one) => one !== undefined).map(amount);
  return `usage.threshold is sent once in each billing period at ${texts.join(' and again at ')}.`;
}
