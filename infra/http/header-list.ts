import type { RequestHeaders } from '../ports/http-front.ts';

/**
 * Header lines as they were sent, name and value in turn. A search through the dozen that a request has costs
 * less than a map of them, and most requests are asked for a few.
 */
export class HeaderList implements RequestHeaders {
  private readonly texts: string[] = [];

  /** `name` in lower case. */
  add(name: string, value: string): void {
    this.texts.push(name, value);
  }

  get(name: string): string | undefined {
    const { texts } = this;
    let found: string | undefined;
    for (let at = 0; at < texts.length; at += 2) {
      if (texts[at] === name) found = joined(name, found, texts[at + 1] ?? '');
    }
    return found;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    const { texts } = this;
    const values = new Map<string, string>();
    for (let at = 0; at < texts.length; at += 2) {
      const name = texts[at] ?? '';
      values.set(name, joined(name, values.get(name), texts[at + 1] ?? ''));
    }
    return values.entries();
  }
}

/** The value of a header that may have been sent before. */
function joined(name: string, earlier: string | undefined, value: string): string {
  return earlier === undefined ? value : `${earlier}${name === KEY ? TWO_KEYS : ', '}${value}`;
}

const KEY = 'idempotency-key';
/** Joined by a comma, two keys would equal one key that contains a comma: this is rejected. */
const TWO_KEYS = '\n';
