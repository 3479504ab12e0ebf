import { readTable } from './text-table.ts';

/** One text for a JSON reader. */
export interface JsonCase {
  verdict: Verdict;
  why: string;
  bytes: Buffer;
  /** True: it is a case only as a whole body: inside one it would be something else. */
  wholeOnly: boolean;
}

/** `unstorable` is read, and rejected as a text; `beyond` is read, and rejected as a number. */
export type Verdict = 'read' | 'not JSON' | 'unstorable' | 'beyond';

const HEADING = /^(whole body, )?(read|not JSON|unstorable|beyond): (.+)$/;

/**
 * Texts for a JSON reader, with the reason of each verdict. The cases are those on which
 * readers were found to disagree (N. Seriot, "Parsing JSON is a minefield", and its JSONTestSuite), put in
 * our own groups; what RFC 8259 leaves open is decided here, as the contract (§1) does.
 */
export function jsonCases(): JsonCase[] {
  return readTable('json-cases.txt').flatMap(([heading, entries]) => {
    const [, whole, verdict, why] = HEADING.exec(heading) ?? [];
    if (!verdict || !why) throw new Error(`a group of JSON cases is headed "${heading}"`);
    return entries.map((bytes) => ({
      verdict: verdict as Verdict,
      why,
      bytes,
      wholeOnly: whole !== undefined,
    }));
  });
}
