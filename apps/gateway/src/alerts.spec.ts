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

/** The names of all metrics that the sources declare, and of the default ones. */
const instruments = new Set([
  ...readdirSync(path.join(root, 'libs'), { recursive: true, encoding: 'utf8' })
    .filter((file) =>
      /(metrics|instruments|module|database-clock|database-monitor|watch-eviction-policy)\.ts$/.test(file),
    )
    .flatMap((file) => readFileSync(path.join(root, 'libs', file), 'utf8').match(/gateway_[a-z_]+/g) ?? []),
  ...defaultMetricNames(),
]);
const recorded = new Set(rules.flatMap(({ record = [] }) => record));

function defaultMetricNames(): readonly string[] {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register.getMetricsAsArray().map(({ name }) => name);
}

/** The name of a histogram without the suffix of its series. */
const baseOf = (metric: string) => metric.replace(/_(bucket|count|sum)$/, '');

it.each([
  ...rules.map(({ alert, record = '', expr }) => [alert ?? record, expr] as const),
  ...panels.map(({ name, expr }) => [name, expr] as const),
])('%s uses metrics that exist', (_name, expr) => {
  const metrics = expr.match(/\b(gateway|process|nodejs)_[a-z0-9_]+/g) ?? [];
  const ofRules = expr.match(/\bgateway:[a-z0-9_:]+/g) ?? [];
  expect(metrics.length + ofRules.length).toBeGreaterThan(0);
  for (const metric of metrics)
    expect([...instruments]).toContain(instruments.has(metric) ? metric : baseOf(metric));
  for (const name of ofRules) expect([...recorded]).toContain(name);
});

const alerts = rules.flatMap(({ alert, annotations = {} }) =>
  alert === undefined ? [] : { alert, annotations },
);

it.each(alerts.map(({ alert, annotations }) => [alert, annotations] as const))(
  '%s has a summary, a first command and a runbook',
  (_name, { summary, description, runbook = '' }) => {
    expect(summary).toBeTruthy();
    expect(description).toMatch(/ Start with: kubectl (get|top|logs|exec) .+/);
    expect(existsSync(path.join(root, 'docs', runbook)) && runbook.endsWith('.md')).toBe(true);
  },
);

it('every alert is in the list of runbooks and on its page, and every page is of an alert', () => {
  const folder = path.join(root, 'docs/operate/runbooks');
  const listed = [
    ...readFileSync(path.join(folder, 'README.md'), 'utf8')
      .split('\n## ')[0]!
      .matchAll(/`([A-Z]\w+)`/g),
  ];
  expect(listed.map(([, name]) => name).sort()).toEqual(alerts.map(({ alert }) => alert).sort());
  for (const { alert, annotations } of alerts) {
    const page = readFileSync(path.join(root, 'docs', annotations['runbook'] ?? ''), 'utf8');
    expect(page).toContain(`\`${alert}\``);
  }
  const pages = readdirSync(folder).filter((page) => page !== 'README.md');
  const used = new Set(alerts.map(({ annotations }) => path.basename(annotations['runbook'] ?? '')));
  expect(pages.sort()).toEqual([...used].sort());
});

it('no runbook has more than 200 words', () => {
  const folder = path.join(root, 'docs/operate/runbooks');
  const words = (page: string) => readFileSync(path.join(folder, page), 'utf8').trim().split(/\s+/).length;
  expect(readdirSync(folder).filter((page) => page !== 'README.md' && words(page) > 200)).toEqual([]);
});

it('the runbooks name metrics that exist', () => {
  const folder = path.join(root, 'docs/operate/runbooks');
  const named = readdirSync(folder).flatMap(
    (page) => readFileSync(path.join(folder, page), 'utf8').match(/\bgateway_[a-z0-9_]+/g) ?? [],
  );
  expect(
    [...new Set(named)].filter((name) => !instruments.has(name) && !instruments.has(baseOf(name))),
  ).toEqual([]);
});
