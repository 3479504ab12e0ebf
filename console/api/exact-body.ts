/** The text of a decimal, which becomes a JSON number with these very digits. */
export class Decimal {
  readonly text: string;

  /** Throws where the text is no number of at least 0. */
  constructor(text: string) {
    if (!DECIMAL.test(text)) throw new TypeError(`not a decimal: ${text}`);
    this.text = text;
  }

  toJSON(): string {
    return `${MARK}${this.text}`;
  }
}

export const DECIMAL = /^(0|[1-9]\d*)(\.\d+)?$/;
/** No text that a form takes contains it. */
const MARK = '\u0001';
const MARKED = /"\\u0001([\d.]+)"/g;

/** JSON that a person wrote: it is sent as it is. */
export class WrittenJson {
  readonly text: string;

  /** Throws SyntaxError where it is no JSON. */
  constructor(text: string) {
    JSON.parse(text);
    this.text = text;
  }
}

/** A body whose decimals no double rounds. */
export function exactBody(body: unknown, indent?: number): string {
  if (body instanceof WrittenJson) return body.text;
  return JSON.stringify(body, undefined, indent).replace(MARKED, '$1');
}
