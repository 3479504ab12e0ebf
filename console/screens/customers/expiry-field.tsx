import { Field } from '../../design/fields.tsx';

interface ExpiryFieldProps {
  /** As such a field has it; '' for never. */
  value: string;
  onInput: (value: string) => void;
}

export function ExpiryField({ value, onInput }: ExpiryFieldProps) {
  return <Field label="Expires (optional)" type="datetime-local" value={value} onInput={onInput} />;
}

/** The member of a body. */
export function expiryOf(value: string): { expiresAt?: string } {
  return value === '' ? {} : { expiresAt: new Date(value).toISOString() };
}
