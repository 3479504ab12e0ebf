/** Where a text stops being JSON, for people. Browsers say it in the message of their error, each in its way. */
export function jsonFault(text: string, { message }: SyntaxError): string {
  const line = /\bline (\d+)/.exec(message)?.[1] ?? lineAt(text, /\bposition (\d+)/.exec(message)?.[1]);
  const shown = text.split('\n')[Number(line) - 1]?.trim() ?? '';
  return (
    `Line ${line} is where this stops being JSON${shown === '' ? '' : `: ${shown.slice(0, 80)}`}. ` +
    'Look there and just before for a missing comma, bracket or quotation mark.'
  );
}

/** Without a position: a text that ends too early. */
function lineAt(text: string, position: string | undefined): number {
  const whole = text.trimEnd();
  return whole.slice(0, position === undefined ? whole.length : Number(position)).split('\n').length;
}
