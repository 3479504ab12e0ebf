import { Type } from 'typebox';

/** Of reads of usage. */
export const Consistency = Type.Enum(['strong', 'eventual'], {
  description:
    'By default the response waits up to 1 s for the usage acknowledged before the request, and is ' +
    'returned without it after that. `strong` waits up to 5 s; after that the response is 503. ' +
    '`eventual` does not wait. Usage acknowledged before `asOf` is counted.',
});
/** Undefined: by default. */
export type Consistency = 'strong' | 'eventual' | undefined;
