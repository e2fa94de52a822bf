import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

interface Metric {
  readonly name: string;
  readonly kind: string;
  readonly labels: readonly string[];
  readonly help: string;
}

interface Alert {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const ALERTS = 'helm/inference-gateway/alerts';

/** `new Counter({ name: 'gateway_…', help: '…', … })`, and histograms of latency. */
const DECLARATION =
  /(?:new (Counter|Gauge|Histogram)|(createLatencyHistogram))\(\{\s*name: '(gateway_\w+)',\s*help:\s*(['"`])(.*?)\4,(.*?)(?:registers|collect)/gs;

/** Every metric that the sources of the libraries declare, by name. */
function declaredMetrics(root: string): readonly Metric[] {
  const folder = path.join(root, 'libs');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .flatMap((file) => metricsIn(readFileSync(path.join(folder, file), 'utf8')))
    .sort((a, b) => a.name.localeCompare(b.name));
}

function metricsIn(source: string): readonly Metric[] {
  if (!source.includes("name: 'gateway_")) return [];
  const constants = new Map(
    [...source.matchAll(/const (\w+) = \[([^\]]*)\] as const/g)].map(([, name = '', list = '']) => [
      name,
      wordsOf(list),
    ]),
  );
  return [...source.matchAll(DECLARATION)].map(([, kind, , name = '', , help = '', rest = '']) => {
    const list = /labelNames: \[([^\]]*)\]/.exec(rest)?.[1];
    const spread = /\.\.\.(\w+)/.exec(list ?? '')?.[1];
    const isShorthand = /^\s*labelNames,/.test(rest);
    const inherited = constants.get(isShorthand ? 'labelNames' : (spread ?? '')) ?? [];
    return { name, help, kind: kind ?? 'Histogram', labels: [...inherited, ...wordsOf(list ?? '')] };
  });
}

function wordsOf(list: string): readonly string[] {
  return [...list.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
}

/** One list entry per metric: name, labels, type, help. */
export function metricsReference(root: string): string {
  return declaredMetrics(root)
    .map(({ name, kind, labels, help }) => {
      const shown = labels.length === 0 ? '' : `{${labels.join(', ')}}`;
      return `- \`${name}${shown}\` (${kind.toLowerCase()})\n  ${help.endsWith('.') ? help : `${help}.`}`;
    })
    .join('\n');
}

/** One list entry per alert of the chart, with its severity and its runbook. */
export function alertsReference(root: string): string {
  return readdirSync(path.join(root, ALERTS))
    .flatMap((file) => {
      const { groups } = parse(readFileSync(path.join(root, ALERTS, file), 'utf8')) as {
        groups: readonly { rules: readonly (Alert | { record: string })[] }[];
      };
      return groups.flatMap(({ rules }) => rules.filter((rule): rule is Alert => 'alert' in rule));
    })
    .map(
      ({ alert, labels: { severity }, annotations: { summary, runbook } }) =>
        `- [\`${alert}\`](../${runbook}) (${severity})\n  ${withoutTemplates(summary)}`,
    )
    .join('\n');
}

/** `{{ $labels.topic }}` → TOPIC, `{{ $value | humanizePercentage }}` → N %. */
function withoutTemplates(text: string): string {
  return `${text
    .replace(/\{\{\s*\$labels\.(\w+)\s*\}\}/g, (_, label: string) => label.toUpperCase())
    .replace(/\{\{\s*\$value \| humanizePercentage\s*\}\}/g, 'N %')
    .replace(/\{\{\s*\$value \| humanize1024\s*\}\}B/g, 'N bytes')
    .replace(/\{\{\s*\$value.*?\}\}/g, 'N')}.`;
}
