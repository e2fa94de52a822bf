import type { GatewayProcess } from './gateway-process';

/** One scrape of the metrics of every process. */
export interface Metrics {
  /** The sum of all series with this name whose labels contain the text. */
  sum(name: string, labels?: string): number;
}

export async function scrape({ adminUrls }: GatewayProcess): Promise<Metrics> {
  const texts = await Promise.all(adminUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const lines = texts.join('\n').split('\n');
  return {
    sum: (name, labels = '') =>
      lines
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => line.includes(labels))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0),
  };
}
