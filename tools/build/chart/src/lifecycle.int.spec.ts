import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describeWith } from '@gateway/dev-infra';
import { componentOf, isHook, ofKind, workloads } from './objects';
import { chartFolder, helm, render, VALUES } from './render';

/** Values of which each changes the spec of the Job that issues certificates. */
const CHANGES = [
  'image.tag=0.9.9',
  'image.pullPolicy=Always',
  'demo.enabled=true',
  'pod.nodeSelector.disk=ssd',
];

describeWith(helm, 'upgrades and rollbacks of the chart', () => {
  const jobs = (...more: readonly string[]) => ofKind(render('least', ...more), 'Job');
  const certificates = (...more: readonly string[]) =>
    jobs(...more).filter((job) => componentOf(job) === 'certificates');

  it('names nothing by the revision, which `kubectl apply` does not have', () => {
    const templates = path.join(chartFolder, 'templates');
    for (const file of readdirSync(templates, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(ya?ml|tpl)$/.test(file)) continue;
      expect([file, readFileSync(path.join(templates, file), 'utf8')]).toEqual([
        file,
        expect.not.stringContaining('Release.Revision'),
      ]);
    }
  });

  it('names a Job outside hooks by its spec: the same for the same, another for each change', () => {
    const outside = jobs().filter((job) => !isHook(job));
    expect(outside.map(componentOf)).toEqual(['certificates']);
    const names = [[], ...CHANGES.map((change) => ['--set', change])].map((more) =>
      certificates(...more).map(({ metadata }) => metadata.name),
    );
    expect(names.flat()).toHaveLength(CHANGES.length + 1);
    expect(new Set(names.flat()).size).toBe(CHANGES.length + 1);
    const upgraded = certificates('--is-upgrade').map(({ metadata }) => metadata.name);
    expect(upgraded).toEqual(names[0]);
  });

  it('removes every Job after its end, so that a rollback creates it again and an uninstallation leaves none', () => {
    for (const { metadata, spec } of jobs()) {
      const { ttlSecondsAfterFinished: ttl, activeDeadlineSeconds: deadline } = spec;
      expect([metadata.name, ttl > 0 && ttl <= 3_600, deadline > 0]).toEqual([metadata.name, true, true]);
    }
    // Helm's default timeout, for which `--wait-for-jobs` looks for the Job.
    expect(certificates()[0]?.spec.ttlSecondsAfterFinished).toBe(300);
  });

  it.each(VALUES)('spreads the pods of each revision on their own, with the values "%s"', (values) => {
    for (const { kind, metadata, spec } of workloads(render(values))) {
      const revision = kind === 'StatefulSet' ? 'controller-revision-hash' : 'pod-template-hash';
      const constraints: { matchLabelKeys?: string[] }[] = spec.template.spec.topologySpreadConstraints;
      expect(constraints.map(({ matchLabelKeys }) => [metadata.name, matchLabelKeys])).toEqual([
        [metadata.name, [revision]],
        [metadata.name, [revision]],
      ]);
    }
  });
});
