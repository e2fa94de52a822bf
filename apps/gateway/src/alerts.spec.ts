import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const root = path.resolve(__dirname, '../../..');
const folder = path.join(root, 'helm/inference-gateway/alerts');

interface Rules {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: Record<string, string>;
    }[];
  }[];
}

const rules = readdirSync(folder).flatMap((file) => {
  const { groups } = parse(readFileSync(path.join(folder, file), 'utf8')) as Rules;
  return groups.flatMap((group) => group.rules);
});

/** The names of all instruments, as they stand in the sources. */
const instruments = new Set(
  readdirSync(path.join(root, 'libs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(metrics|instruments|module)\.ts$/.test(file))
    .flatMap((file) => readFileSync(path.join(root, 'libs', file), 'utf8').match(/gateway_[a-z_]+/g) ?? []),
);

it.each(rules.map((rule) => [rule.alert, rule] as const))(
  '%s is about metrics that there are',
  (_name, rule) => {
    const named = rule.expr.match(/gateway_[a-z_]+/g) ?? [];
    expect(named).not.toEqual([]);
    for (const metric of named) expect(instruments).toContain(metric);
    expect(rule.annotations['summary']).toBeTruthy();
  },
);
