/** One text for a JSON reader. */
export interface JsonCase {
  verdict: Verdict;
  why: string;
  bytes: Buffer;
  /** True: it is a case only as a whole body, and not as a value inside one. */
  wholeOnly: boolean;
}

/** `unstorable` is read, and rejected as a text; `beyond` is read, and rejected as a number. */
export type Verdict = 'read' | 'not JSON' | 'unstorable' | 'beyond';

/** Cases with one verdict for one reason. A text is sent as UTF-8; an array gives the bytes. */
export type JsonCaseGroup = [verdict: Verdict, why: string, ...cases: Array<string | number[]>];
