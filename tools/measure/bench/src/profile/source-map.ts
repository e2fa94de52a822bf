import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { FindSource } from './profile-figures';

/** Leads from a bundle back to the files it was made of, by the map that lies beside it. */
export function sourcesOf(bundle: string): FindSource {
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')));
  const url = pathToFileURL(bundle).href;
  return (asked, line, column) => {
    // Node names a CommonJS module by its path, and an ES module by its address.
    if (asked !== url && asked !== bundle) return undefined;
    const entry = map.findEntry(line, column);
    // What the bundler itself put in front belongs to no file.
    return 'originalSource' in entry ? entry.originalSource.replace(/^(\.\.\/)+/, '') : undefined;
  };
}
