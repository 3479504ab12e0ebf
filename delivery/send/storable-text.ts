/** Bytes of a stranger as text that Postgres stores: invalid UTF-8 and U+0000 become U+FFFD. */
export function storableText(bytes: Uint8Array): string {
  // As a stream: a character that is cut off at the very end is left out.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  return text.replaceAll('\u0000', '\ufffd');
}
