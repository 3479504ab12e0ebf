import { useState } from 'preact/hooks';
import { askToChange } from '../../api/change.tsx';
import { Decimal } from '../../api/exact-body.ts';
import { apiPath } from '../../api/rest.ts';
import { FormDialog } from '../../design/dialog.tsx';
import { Field } from '../../design/fields.tsx';
import { amount } from '../../design/figures.ts';
import { Notice } from '../../design/pieces.tsx';
import { type Thresholds, thresholdsOf } from './budget-thresholds.ts';
import type { Budget, Customer } from './shapes.ts';

interface BudgetDialogProps {
  customer: Customer;
  meterKey: string;
  given: Budget | undefined;
  onClose: () => void;
}

/** The whole budget: a threshold that is left empty is removed. Asks before it is stored. */
export function BudgetDialog({ customer, meterKey, given, onClose }: BudgetDialogProps) {
  const [soft, setSoft] = useState(shownText(given?.soft));
  const [hard, setHard] = useState(shownText(given?.hard));
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
    <FormDialog title={`Budget of ${meterKey}`} onClose={onClose} onContinue={ask}>
      <Field label="Soft threshold" value={soft} onInput={setSoft} placeholder="48,000" isFocused />
      <Field label="Hard threshold" value={hard} onInput={setHard} placeholder="60,000" />
      {fault === undefined ? null : <Notice tone="bad">{fault}</Notice>}
    </FormDialog>
  );
}

function shownText(threshold: string | undefined): string {
  return threshold === undefined ? '' : amount(threshold);
}

function effectOf({ soft, hard }: Thresholds): string {
  const texts = [soft, hard].filter((one) => one !== undefined).map(amount);
  return `usage.threshold is sent once in each billing period at ${texts.join(' and again at ')}.`;
}
