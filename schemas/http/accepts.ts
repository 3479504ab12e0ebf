/**
 * True if an `Accept` header names this media type and does not rule it out (`q=0`). A wildcard does not name
 * it: nearly every client sends one without a thought.
 */
export function accepts(header: string | undefined, mediaType: string): boolean {
  if (header === undefined || !header.toLowerCase().includes(mediaType)) return false;
  return header.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === mediaType && !parameters.some((one) => /^q\s*=\s*0(\.0*)?$/.test(one));
  });
}
