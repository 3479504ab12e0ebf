// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what needs an escape
const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;

/** A JSON string. Most texts need no escape, and then two quotes cost a tenth of JSON.stringify. */
export function quote(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}
