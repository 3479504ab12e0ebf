import { csvLine, csvText } from '../../schemas/primitives/csv.ts';

/** A table as a file, in which no text runs as a formula. */
export function csvOf(header: readonly string[], rows: ReadonlyArray<readonly (string | number)[]>): string {
  const safe = (cell: string | number) => (typeof cell === 'string' ? csvText(cell) : cell);
  return [header, ...rows].map((row) => csvLine(row.map(safe))).join('');
}

/** Hands a file to the reader. */
export function saveFile(name: string, mediaType: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: mediaType }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replace(/[^\w.-]+/g, '-');
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
