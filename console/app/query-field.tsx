import type { FieldProps } from '../design/fields.tsx';
import { TypedField } from '../design/typed-field.tsx';
import { changeQuery, usePlace } from './place.ts';

interface QueryFieldProps extends Omit<FieldProps, 'value' | 'onInput'> {
  /** Of the parameter. */
  name: string;
}

/** A parameter of the place where the reader is, as a field. */
export function QueryField({ name, ...field }: QueryFieldProps) {
  const value = usePlace().query[name] ?? '';
  return <TypedField {...field} value={value} onInput={(typed) => changeQuery({ [name]: typed })} />;
}
