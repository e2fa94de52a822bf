import { describeWith } from '@gateway/dev-infra';
import { ofKind } from './objects';
import { helm, render } from './render';

interface Rule {
  readonly alert?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

describeWith(helm, 'the alerts of the chart', () => {
  it('labels alerts, and no recording rules, with the release', () => {
    const rules = ofKind(render('everything'), 'PrometheusRule').flatMap(({ spec }) =>
      (spec.groups as { rules: Rule[] }[]).flatMap((group) => group.rules),
    );
    const release = { release: 'gw', release_namespace: 'default' };
    expect(rules.some(({ alert }) => alert === undefined)).toBe(true);
    for (const { alert, labels } of rules) {
      if (alert === undefined) expect(labels).toBeUndefined();
      else expect(labels).toMatchObject({ ...release, severity: expect.any(String) });
    }
  });

  it('links alerts to their runbooks, with commands for this release', () => {
    const rules = ofKind(render('everything'), 'PrometheusRule').flatMap(({ spec }) =>
      (spec.groups as { rules: Rule[] }[]).flatMap((group) => group.rules),
    );
    const alerts = rules.flatMap(({ annotations }) => (annotations ? [annotations] : []));
    expect(alerts.length).toBeGreaterThan(15);
    for (const { runbook, runbook_url: url } of alerts)
      expect(url).toBe(`https://git.example.com/docs/${runbook}`);
    const { description } = alerts.find(({ runbook }) => runbook?.includes('dead-letters')) ?? {};
    expect(description).toContain(
      'kubectl --namespace default exec deploy/gw-inference-gateway-dashboard-api -- ',
    );
  });
});
