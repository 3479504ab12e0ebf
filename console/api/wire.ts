import type { ExactNumber } from '../../schemas/primitives/exact-json.ts';
import type { Output } from '../../schemas/route.ts';
import type { OperationId, Routes } from '../../schemas/routes.ts';

/** As a response has it: decimals are text (`Prefer: numbers=text`). */
export type Wire<T> = T extends ExactNumber
  ? string
  : T extends object
    ? { [Name in keyof T]: Wire<T[Name]> }
    : T;

/** The body of an operation's response. */
export type Responded<Id extends OperationId> = Wire<Output<Routes[Id]>>;

/** One object of a list. */
export type Listed<Id extends OperationId> = Responded<Id> extends { data: Array<infer Item> } ? Item : never;
