/** The number of `--series-…` colors in styles.css. */
const COLORS = 10;

/**
 * A color per model or key. It follows from the id, so it is the same on every chart, in every period and
 * at every rank. Of ids that share a color, all but the alphabetically first get the next free one.
 *
 * @param ids all ids that charts may show, and not only those of one chart
 */
export function seriesColors(ids: Iterable<string>): ReadonlyMap<string, string> {
  const colors = new Map<string, string>();
  const used = new Set<number>();
  for (const id of [...new Set(ids)].sort()) {
    let color = hashOf(id) % COLORS;
    while (used.has(color)) color = (color + 1) % COLORS;
    used.add(color);
    if (used.size === COLORS) used.clear();
    colors.set(id, `var(--series-${color + 1})`);
  }
  return colors;
}

/** FNV-1a */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}
