import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { FindSource } from './profile-figures';

/** Finds source files by the source map next to the bundle. */
export function sourcesOf(bundle: string): FindSource {
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')));
  const url = pathToFileURL(bundle).href;
  return (requestedUrl, line, column) => {
    // Node.js identifies a CommonJS module by path and an ES module by URL.
    if (requestedUrl !== url && requestedUrl !== bundle) return undefined;
    const entry = map.findEntry(line, column);
    // Code that the bundler generates has no source file.
    return 'originalSource' in entry ? entry.originalSource.replace(/^(\.\.\/)+/, '') : undefined;
  };
}
