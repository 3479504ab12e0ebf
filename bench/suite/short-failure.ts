/** The folders of a path that begins at the root; URLs and paths of the API behind them are none. */
const FOLDERS = /(?<![\w:/.-])(?:file:\/\/)?\/(?:[\w.@+~-]+\/)+(?=[\w.@+~-])/g;
const ERROR_LINE = /^(?:Uncaught )?\w*Error\b.*: /;
const CHARS_MAX = 300;

/** An error's message as it is shown in a result and on a page: one line that names no machine's folders. */
export function shortFailure(message: string): string {
  const [line = ''] = message.trim().split('\n');
  return line.replaceAll(FOLDERS, '').slice(0, CHARS_MAX);
}

/** What a process ended of, by what it wrote: its last error, since Node ends with lines of its own. */
export function lastWords(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line = lines.findLast((one) => ERROR_LINE.test(one)) ?? lines.findLast((one) => one !== '');
  return shortFailure(line ?? 'it said nothing');
}
