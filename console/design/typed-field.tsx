import { useEffect, useRef, useState } from 'preact/hooks';
import { Field, type FieldProps } from './fields.tsx';

/** After the last key: what is typed is asked of the service. */
const TYPING_MS = 300;

/** A field whose value is used once the reader has stopped typing. */
export function TypedField({ value, onInput, ...field }: FieldProps) {
  const [typed, setTyped] = useState(value);
  const used = useRef(value);
  useEffect(() => {
    // What was typed here may have got a further letter since; what was chosen elsewhere takes its place.
    if (value === used.current) return;
    used.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => {
      used.current = typed;
      onInput(typed);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return <Field {...field} value={typed} onInput={setTyped} />;
}
