/** RFC 4180: fields by comma, lines by CR LF, quotes where a field needs them. */
export function csvLine(fields: ReadonlyArray<string | number | boolean>): string {
  return `${fields.map((field) => quoted(String(field))).join(',')}\r\n`;
}

/**
 * A text of a client as a field. A spreadsheet takes a text that begins like this for a formula, quotes or
 * not, and would run it: an apostrophe in front makes it text. Numbers with a sign stay numbers.
 */
export function csvText(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/** `=`, `+`, `-` and `@`, also in full width; a tab or a line end may come before them. */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/;
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
