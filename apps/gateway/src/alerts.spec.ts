import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { parse } from 'yaml';

const root = path.resolve(__dirname, '../../..');
const chart = path.join(root, 'helm/inference-gateway');
const filesOf = (folder: string) =>
  readdirSync(path.join(chart, folder)).map((file) => path.join(chart, folder, file));

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const rules = filesOf('alerts').flatMap((file) => {
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] };
  return groups.flatMap((group) => group.rules);
});
const panels = filesOf('dashboards').flatMap((file) => {
  const { title: dashboard, panels } = JSON.parse(readFileSync(file, 'utf8')) as {
    title: string;
    panels: readonly { title: string; targets?: readonly { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ name: `${dashboard}, ${title}`, expr })),
  );
});

/** Names of all instruments in the sources, and of the default metrics of every process. */
const instruments = new Set([
  ...readdirSync(path.join(root, 'libs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(metrics|instruments|module)\.ts$/.test(file))
    .flatMap((file) => readFileSync(path.join(root, 'libs', file), 'utf8').match(/gateway_[a-z_]+/g) ?? []),
  ...defaultMetricNames(),
]);
const recorded = new Set(rules.flatMap(({ record = [] }) => record));

function defaultMetricNames(): readonly string[] {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register.getMetricsAsArray().map(({ name }) => name);
}

/** The name without a histogram's suffix. */
const baseOf = (metric: string) => metric.replace(/_(bucket|count|sum)$/, '');

it.each([
  ...rules.map(({ alert, record = '', expr }) => [alert ?? record, expr] as const),
  ...panels.map(({ name, expr }) => [name, expr] as const),
])('%s uses existing metrics', (_name, expr) => {
  const metrics = expr.match(/\b(gateway|process|nodejs)_[a-z0-9_]+/g) ?? [];
  const ofRules = expr.match(/\bgateway:[a-z0-9_:]+/g) ?? [];
  expect(metrics.length + ofRules.length).toBeGreaterThan(0);
  for (const metric of metrics)
    expect([...instruments]).toContain(instruments.has(metric) ? metric : baseOf(metric));
  for (const name of ofRules) expect([...recorded]).toContain(name);
});

it.each(
  rules.flatMap(({ alert = [], annotations = {} }) =>
    [alert].flat().map((name) => [name, annotations] as const),
  ),
)('%s has a summary and an existing runbook', (_name, { summary, runbook = '' }) => {
  expect(summary).toBeTruthy();
  expect(existsSync(path.join(root, 'docs', runbook)) && runbook.endsWith('.md')).toBe(true);
});

it('the list of runbooks has a page for every alert, and no other', () => {
  const listed = readFileSync(path.join(root, 'docs/runbooks/README.md'), 'utf8');
  const ofRunbooks = rules.filter(({ annotations }) => annotations?.['runbook']?.startsWith('runbooks/'));
  const alerts = ofRunbooks.map(({ alert }) => alert).sort();
  expect([...listed.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name).sort()).toEqual(alerts);
  const pages = readdirSync(path.join(root, 'docs/runbooks')).filter((page) => page !== 'README.md');
  expect(pages.sort()).toEqual(
    [
      ...new Set(ofRunbooks.map(({ annotations }) => annotations?.['runbook']?.slice('runbooks/'.length))),
    ].sort(),
  );
});
