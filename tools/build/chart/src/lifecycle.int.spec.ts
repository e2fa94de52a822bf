import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describeWith } from '@gateway/dev-infra';
import { defaultReplicaLimits } from '@gateway/rpc/grpc';
import { componentOf, isHook, ofKind, workloads } from './objects';
import { chartFolder, helm, render, VALUES } from './render';

/** Each of these values changes the spec of the Job that issues certificates. */
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

  it('catches up on a renewal of certificates that was missed', () => {
    const [renewal] = ofKind(render('least'), 'CronJob');
    // Without a limit, Kubernetes stops a schedule after 100 missed runs.
    expect(renewal?.spec.startingDeadlineSeconds).toBeGreaterThan(3_600);
  });

  it.each(VALUES)('spreads the pods of each revision over nodes, with the values "%s"', (values) => {
    for (const { kind, metadata, spec } of workloads(render(values))) {
      const { topologySpreadConstraints: constraints, affinity } = spec.template.spec;
      // The scheduler ignores all constraints of a pod on nodes that lack the label of one, as zones often are.
      expect([metadata.name, constraints]).toEqual([
        metadata.name,
        [
          expect.objectContaining({
            topologyKey: 'kubernetes.io/hostname',
            matchLabelKeys: [kind === 'StatefulSet' ? 'controller-revision-hash' : 'pod-template-hash'],
          }),
        ],
      ]);
      const [zone] = affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
      expect(zone.podAffinityTerm).toEqual({
        topologyKey: 'topology.kubernetes.io/zone',
        labelSelector: constraints[0].labelSelector,
      });
    }
  });

  it.each([[], ['--set', 'pod.dnsCacheSeconds=5'], ['--set', 'pod.dnsCacheSeconds=0']])(
    'keeps a service that is found by DNS reachable while its addresses are cached, with %j',
    (...set) => {
      const objects = render('least', ...set);
      const cachedS = Number(/\d+/.exec(set[1] ?? 'default: 30')?.[0]);
      const headless = ofKind(objects, 'Service').filter(({ spec }) => spec.clusterIP === 'None');
      expect(headless.length).toBeGreaterThan(4);
      for (const workload of workloads(objects)) {
        const isFoundByDns = headless.some((each) => componentOf(each) === componentOf(workload));
        const { lifecycle } = workload.spec.template.spec.containers[0];
        const found = { isFoundByDns, minReadySeconds: workload.spec.minReadySeconds };
        if (!isFoundByDns) expect(found).toEqual({ isFoundByDns, minReadySeconds: undefined });
        // An address may be as old as the cache allows, and a client resolves again within this time.
        const knownS = cachedS + defaultReplicaLimits.resolveIntervalMs / 1_000;
        if (isFoundByDns) expect(found.minReadySeconds).toBeGreaterThan(knownS);
        if (isFoundByDns) expect(lifecycle.preStop.sleep.seconds).toBeGreaterThan(knownS);
        else expect(lifecycle.preStop.sleep.seconds).toBe(10);
      }
    },
  );

  it.each(VALUES)('gives every pod a network policy, with the values "%s"', (values) => {
    const objects = render(values);
    const policies = ofKind(objects, 'NetworkPolicy').map(({ spec }) => spec.podSelector.matchLabels);
    const pods = objects.flatMap(({ kind, metadata, spec }) => {
      if (kind === 'Pod') return [metadata];
      const template = kind === 'CronJob' ? spec.jobTemplate.spec.template : spec?.template;
      return template ? [template.metadata] : [];
    });
    expect(pods.length).toBeGreaterThan(13);
    for (const { labels } of pods) {
      const selecting = policies.filter((wanted: Record<string, string>) =>
        Object.entries(wanted).every(([name, value]) => labels[name] === value),
      );
      expect([labels['app.kubernetes.io/component'], selecting.length]).toEqual([
        labels['app.kubernetes.io/component'],
        1,
      ]);
    }
  });

  it('lets a migration reach its database, with the policies of the release before', () => {
    const policies = ofKind(render('production'), 'NetworkPolicy').filter((each) =>
      /-migrate$/.test(componentOf(each)),
    );
    expect(policies).toHaveLength(4);
    for (const policy of policies) {
      expect(isHook(policy)).toBe(false);
      expect(policy.spec.egress).toContainEqual({ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] });
    }
  });
});
