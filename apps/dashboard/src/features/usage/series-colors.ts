/** The number of `--series-…` colors in styles.css. */
const COLORS = 10;

/** Distinguish series that have the same color in one chart: the second one has the first shade. */
const SHADES = [
  ['var(--ink)', 65],
  ['var(--paper)', 60],
  ['var(--ink)', 35],
  ['var(--paper)', 30],
] as const;

/**
 * A color per model, key or project of a chart. It follows from the id, whatever else exists. Of series
 * that share a color, all but the alphabetically first have a shade of it.
 */
export function seriesColors(ids: Iterable<string>): ReadonlyMap<string, string> {
  const colors = new Map<string, string>();
  const uses = new Map<string, number>();
  for (const id of [...new Set(ids)].sort()) {
    const color = `var(--series-${(hashOf(id) % COLORS) + 1})`;
    const used = uses.get(color) ?? 0;
    uses.set(color, used + 1);
    colors.set(id, shadeOf(color, used));
  }
  return colors;
}

function shadeOf(color: string, used: number): string {
  const shade = used === 0 ? undefined : SHADES[(used - 1) % SHADES.length];
  return shade ? `color-mix(in oklab, ${color} ${shade[1]}%, ${shade[0]})` : color;
}

/** FNV-1a */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}
