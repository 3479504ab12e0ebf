import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useFocus } from './focus.ts';

export interface FieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  type?: 'text' | 'search' | 'email' | 'password' | 'url' | 'date' | 'datetime-local';
  placeholder?: string;
  hint?: string;
  error?: string | undefined;
  /** Values that are offered, besides any other. */
  offered?: readonly string[];
  isRequired?: boolean;
  isFocused?: boolean;
}

export function Field(props: FieldProps) {
  const { label, value, onInput, type = 'text', placeholder, hint, error, offered } = props;
  const id = useId();
  const element = useFocus<HTMLInputElement>(props.isFocused ?? false);
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        ref={element}
        id={id}
        type={type as 'text'}
        value={value}
        placeholder={placeholder}
        required={props.isRequired}
        autocomplete="off"
        spellcheck={false}
        list={offered ? `${id}-offered` : undefined}
        aria-invalid={error ? true : undefined}
        aria-describedby={note ? `${id}-note` : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {note ? (
        <p id={`${id}-note`} class={error ? 'field-error' : 'small muted'}>
          {note}
        </p>
      ) : null}
      {offered ? (
        <datalist id={`${id}-offered`}>
          {offered.map((one) => (
            <option value={one} />
          ))}
        </datalist>
      ) : null}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: ReadonlyArray<readonly [value: T, text: string]>;
  onChoose: (value: T) => void;
}

export function Choice<T extends string>({ label, value, options, onChoose }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value as T)}>
        {options.map(([one, text]) => (
          <option value={one} selected={one === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Fields that are sent together. */
export function Form({ onSubmit, children }: { onSubmit: () => void; children: ComponentChildren }) {
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
