import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

export interface MarkdownFile {
  /** From the root. */
  path: string;
  text: string;
}

/** A fenced block of code: ```sh run, for one. */
export interface CodeBlock {
  path: string;
  /** Of its first line of code. */
  line: number;
  language: string;
  /** Whether it is executed against a real instance (samples.whole.test.ts). */
  isRun: boolean;
  code: string;
}

/** What git tracks or would track, as far as it is there. */
export function treePaths(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  const isThere = (path: string) => path !== '' && statSync(path, { throwIfNoEntry: false })?.isFile();
  return [...new Set(listed.split('\0'))].filter(isThere);
}

export function readDocuments(paths: readonly string[] = treePaths()): MarkdownFile[] {
  return paths
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

export function codeBlocks({ path, text }: MarkdownFile): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: CodeBlock | undefined;
  text.split('\n').forEach((line, at) => {
    const fence = /^```(\S*)( run)?$/.exec(line);
    if (open === undefined && fence) {
      const [, language = '', run] = fence;
      open = { path, line: at + 2, language, isRun: run !== undefined, code: '' };
    } else if (open !== undefined && line === '```') {
      blocks.push(open);
      open = undefined;
    } else if (open !== undefined) {
      open.code += `${line}\n`;
    }
  });
  if (open !== undefined) throw new Error(`${path}: a block of code has no end`);
  return blocks;
}

/** The text without its blocks of code. */
export function proseOf({ text }: MarkdownFile): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}
