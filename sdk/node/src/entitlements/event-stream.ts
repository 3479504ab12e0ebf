import { parseExactJson } from '../meter/exact-decimal.ts';

export interface StreamedEvent {
  event: string;
  id: string | undefined;
  data: unknown;
}

/** One event may have a customer with all its features. */
const EVENT_CHARS_MAX = 8 * 1024 * 1024;

/** Reads server-sent events from a text that comes in parts, as our server writes them. */
export class EventStreamReader {
  private rest = '';

  /** Those that end in this part. Throws for one without an end, or that is not JSON. */
  read(part: string): StreamedEvent[] {
    const events: StreamedEvent[] = [];
    this.rest += part;
    let from = 0;
    for (let end = this.rest.indexOf('\n\n'); end >= 0; end = this.rest.indexOf('\n\n', from)) {
      const event = eventIn(this.rest.slice(from, end));
      if (event) events.push(event);
      from = end + 2;
    }
    this.rest = this.rest.slice(from);
    if (this.rest.length > EVENT_CHARS_MAX) throw new Error('an event of the feed has no end');
    return events;
  }
}

/** Undefined for a comment. */
function eventIn(block: string): StreamedEvent | undefined {
  let event = '';
  let id: string | undefined;
  let data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('data: ')) data += line.slice(6);
    else if (line.startsWith('event: ')) event = line.slice(7);
    else if (line.startsWith('id: ')) id = line.slice(4);
  }
  return event === '' ? undefined : { event, id, data: parseExactJson(data === '' ? '{}' : data) };
}
