const END = '# EOF';

/**
 * What several processes tell of the same metrics, as one text: all samples of
 * a metric stand together behind what it is, as both formats want it. Nothing
 * is added up, so labels must tell the processes apart.
 *
 * @param texts all in the same format.
 */
export function mergeMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, { readonly head: Set<string>; readonly samples: string[] }>();
  let isOpenMetrics = false;
  for (const text of texts) {
    let current = { head: new Set<string>(), samples: [] as string[] };
    for (const line of text.split('\n')) {
      const name = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        current = metrics.get(name) ?? { head: new Set(), samples: [] };
        metrics.set(name, current);
        current.head.add(line);
      } else if (line === END) isOpenMetrics = true;
      else if (line !== '') current.samples.push(line);
    }
  }
  const lines = [...metrics.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return [...lines, ...(isOpenMetrics ? [END] : []), ''].join('\n');
}
