import { decode, encode } from '@jridgewell/sourcemap-codec';

/**
 * Reduces a source map to the first position of each line, and drops names. Node.js parses a map on the main thread,
 * when the first stack is read, and keeps the result in memory: the gateway's whole map takes 200 ms and 67 MiB, its lines 60 ms
 * and 18 MiB.
 */
export function lineMap(map) {
  const mappings = decode(map.mappings).map((segments) => {
    let previous = [];
    return segments
      .filter((segment) => {
        const startsLine = segment[1] !== previous[1] || segment[2] !== previous[2];
        previous = segment;
        return startsLine;
      })
      .map((segment) => segment.slice(0, 4));
  });
  return { ...map, names: [], mappings: encode(mappings) };
}
