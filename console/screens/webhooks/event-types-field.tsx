import type { EventType } from '../../../schemas/events.ts';

/** The types of schemas/events.ts, which the build puts in (tools/bundles/build-console.mjs). */
declare const EVENT_TYPES: readonly EventType[];

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
      {EVENT_TYPES.map((type) => (
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
