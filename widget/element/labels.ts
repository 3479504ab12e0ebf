export type Labels = Record<string, string>;

/**
 * The texts of an element, in English unless its `labels` attribute, a JSON object, replaces some. `fault`
 * says what is wrong with the attribute.
 */
export function readLabels<Known extends Labels>(
  json: string | null,
  known: Known,
): { labels: Known; fault?: string } {
  if (json === null) return { labels: known };
  try {
    const parsed: unknown = JSON.parse(json);
    if (typeof parsed !== 'object' || parsed === null) return { labels: known, fault: NO_OBJECT };
    const given = Object.entries(parsed);
    const unknown = given.find(([name, text]) => !Object.hasOwn(known, name) || typeof text !== 'string');
    const usable = given.filter(([name, text]) => Object.hasOwn(known, name) && typeof text === 'string');
    const labels = { ...known, ...Object.fromEntries(usable) };
    return unknown
      ? {
          labels,
          fault: `labels: there is no text ${unknown[0]}; there are ${Object.keys(known).join(', ')}.`,
        }
      : { labels };
  } catch {
    return { labels: known, fault: NO_OBJECT };
  }
}

const NO_OBJECT = 'labels is not a JSON object.';
