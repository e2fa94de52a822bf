import { type GatewayProcess } from './gateway-process';

/** One look at the gateway's metrics. */
export interface Metrics {
  /** The sum of all series of the name whose labels hold this text. */
  sum(name: string, labels?: string): number;
}

export async function scrape(gateway: GatewayProcess): Promise<Metrics> {
  const lines = (await (await fetch(`${gateway.adminUrl}/metrics`)).text()).split('\n');
  return {
    sum: (name, labels = '') =>
      lines
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => line.includes(labels))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0),
  };
}
