import { readFileSync } from 'node:fs';

/** By their file. As many as the program has such files. */
const compiled = new Map<string, WebAssembly.Module>();

/**
 * A module of WebAssembly, compiled once for the process: that takes 3 ms, and the optimised code, which
 * another thread makes later, goes with the module.
 */
export function compiledWasm(file: URL): WebAssembly.Module {
  const known = compiled.get(file.href);
  if (known) return known;
  const module = new WebAssembly.Module(readFileSync(file));
  compiled.set(file.href, module);
  return module;
}
