import type { EventType } from '../../../schemas/events.ts';

/** Grouped as they are shown; a type that is missing here does not compile. */
const TYPES: Record<EventType, true> = {
  'customer.created': true,
  'customer.updated': true,
  'subscription.created': true,
  'subscription.updated': true,
  'subscription.canceled': true,
  'plan.created': true,
  'plan.updated': true,
  'plan.published': true,
  'plan.archived': true,
  'feature.updated': true,
  'feature.deleted': true,
  'entitlement.changed': true,
  'usage.threshold': true,
  'credit.granted': true,
  'credit.depleted': true,
};

interface EventTypesFieldProps {
  /** `*` is all. */
  chosen: readonly string[];
  onChoose: (chosen: string[]) => void;
}

export function EventTypesField({ chosen, onChoose }: EventTypesFieldProps) {
  const isAll = chosen.includes('*');
  const toggle = (type: string) =>
    onChoose(chosen.includes(type) ? chosen.filter((one) => one !== type) : [...chosen, type]);
  return (
    <fieldset class="choices">
      <legend>Event types</legend>
      <Choice text="All, also those of later releases" isChosen={isAll} onToggle={() => toggle('*')} />
      {Object.keys(TYPES).map((type) => (
        <Choice
          key={type}
          text={type}
          isChosen={isAll || chosen.includes(type)}
          isDisabled={isAll}
          onToggle={() => toggle(type)}
        />
      ))}
    </fieldset>
  );
}

interface ChoiceProps {
  text: string;
  isChosen: boolean;
  isDisabled?: boolean;
  onToggle: () => void;
}

function Choice({ text, isChosen, isDisabled = false, onToggle }: ChoiceProps) {
  return (
    <label>
      <input type="checkbox" checked={isChosen} disabled={isDisabled} onChange={onToggle} /> {text}
    </label>
  );
}
