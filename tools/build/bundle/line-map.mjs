import { decode, encode } from '@jridgewell/sourcemap-codec';

/**
 * Reduces a source map to the first position of each line of the project's sources, and drops names. Node.js parses a map on
 * the main thread, when the first stack is read, and keeps the result in memory: the gateway's whole map takes 200 ms and
 * 67 MiB, all lines 60 ms and 15 MiB, those of the project 25 ms and 7 MiB. Stacks name functions of packages by their
 * position in the bundle.
 */
export function lineMap(map) {
  const isPackage = map.sources.map((source) => source.split('/').includes('node_modules'));
  const mappings = decode(map.mappings).map((segments) => {
    let previous;
    return segments
      .map(([column, source, ...position]) =>
        source === undefined || isPackage[source] ? [column] : [column, source, ...position.slice(0, 2)],
      )
      .filter(([, source, line]) => {
        const startsLine = !previous || source !== previous.source || line !== previous.line;
        previous = { source, line };
        return startsLine;
      });
  });
  return { ...map, names: [], mappings: encode(mappings) };
}
