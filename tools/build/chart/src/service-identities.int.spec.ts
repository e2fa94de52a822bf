import { SERVICE_NAMES } from '@gateway/cluster';
import { ADMIN_CALLERS, CALLS } from '@gateway/contracts/callers';
import { describeWith } from '@gateway/dev-infra';
import { documentedSettings } from '@gateway/test-support';
import { componentOf, ofKind, workloads } from './objects';
import { helm, render, VALUES, type KubernetesObject, type Values } from './render';

describeWith(helm, 'the identities of services in the chart', () => {
  const rendered = new Map<Values, KubernetesObject[]>();
  beforeAll(() => VALUES.forEach((values) => rendered.set(values, render(values))));
  const objectsOf = (values: Values): KubernetesObject[] => rendered.get(values) ?? [];

  /** The public keys of all signers, and the keys of the only signer without the demo. */
  const ACTOR_SECRETS = [
    'gw-inference-gateway-actor-public-keys',
    'gw-inference-gateway-dashboard-api-actor-keys',
  ];

  describe('the keys of assertions', () => {
    const mountedBy = (objects: readonly KubernetesObject[]) =>
      Object.fromEntries(
        workloads(objects).map((object) => {
          const volumes: { name: string; secret?: { secretName: string } }[] =
            object.spec.template.spec.volumes;
          return [componentOf(object), volumes.find(({ name }) => name === 'actor-keys')?.secret?.secretName];
        }),
      );

    it.each(VALUES)(
      'are mounted by their signer only; services for people get public keys: "%s"',
      (values) => {
        const [publicKeys, ownKeys] = ACTOR_SECRETS;
        expect(mountedBy(objectsOf(values))).toMatchObject({
          'dashboard-api': ownKeys,
          auth: publicKeys,
          'billing-ledger': publicKeys,
          'inference-router': publicKeys,
          'generation-query': publicKeys,
          'usage-aggregator': publicKeys,
        });
        expect(mountedBy(objectsOf(values))['edge-proxy']).toBeUndefined();
        expect(mountedBy(objectsOf(values))['rate-limit']).toBeUndefined();
      },
    );

    it.each(['job', 'cert-manager', 'existing', 'none'])(
      'come from the job with certificates from %s',
      (source) => {
        const objects = render(
          'least',
          '--set',
          `rpcTls.certificates=${source},rpcTls.certManager.issuerName=ca`,
        );
        const [job] = ofKind(objects, 'Job').filter((each) => componentOf(each) === 'certificates');
        expect(job?.spec.template.spec.containers[0].args).toContain('--signers=dashboard-api');
        const names = ofKind(objects, 'Secret').map(({ metadata }) => metadata.name);
        expect(names).toEqual(expect.arrayContaining(ACTOR_SECRETS));
      },
    );
  });

  describe('the certificates of services', () => {
    const secretsOf = (values: Values) =>
      workloads(objectsOf(values)).map((object) => {
        const volumes: { name: string; secret?: { secretName: string } }[] =
          object.spec.template.spec.volumes;
        return [componentOf(object), volumes.find(({ name }) => name === 'rpc-tls')?.secret?.secretName];
      });
    const ownSecrets = SERVICE_NAMES.map((service) => [service, `gw-inference-gateway-${service}-rpc-tls`]);

    it.each(VALUES)('are one per service, with the values "%s"', (values) => {
      expect(secretsOf(values).sort()).toEqual([...ownSecrets].sort());
    });

    it('come from cert-manager, each with the name of its service', () => {
      const names = ofKind(objectsOf('everything'), 'Certificate').map(({ spec }) => [
        spec.secretName,
        spec.dnsNames,
      ]);
      expect(names.sort()).toEqual(
        ownSecrets
          .map(([service, secret]) => [secret, [`${service}.gw-inference-gateway.default.internal`]])
          .sort(),
      );
    });

    it('come from a job that may read and change these secrets only', () => {
      const objects = objectsOf('least');
      const names = [
        ...ownSecrets.map(([, secret]) => secret),
        ...ACTOR_SECRETS,
        'gw-inference-gateway-rpc-authority',
      ];
      const [role] = ofKind(objects, 'Role') as unknown as { rules: Record<string, string[]>[] }[];
      expect(role?.rules).toEqual([
        {
          apiGroups: [''],
          resources: ['secrets'],
          resourceNames: expect.arrayContaining(names),
          verbs: ['get', 'patch'],
        },
      ]);
      expect(role?.rules[0]?.['resourceNames']).toHaveLength(names.length);
      const empty = ofKind(objects, 'Secret');
      expect(empty.map(({ metadata }) => metadata.name).sort()).toEqual(names.sort());
      expect(empty.every(({ data, stringData }) => data === undefined && stringData === undefined)).toBe(
        true,
      );
    });

    it('are absent only where the values say so', () => {
      const objects = render('least', '--set', 'rpcTls.certificates=none');
      expect(ofKind(objects, 'Certificate')).toEqual([]);
      expect(
        ofKind(objects, 'Secret')
          .map(({ metadata }) => metadata.name)
          .sort(),
      ).toEqual(ACTOR_SECRETS);
      for (const { spec } of workloads(objects)) {
        expect(spec.template.spec.containers[0].env).toContainEqual({
          name: 'GATEWAY_RPC_SECURITY',
          value: 'plaintext',
        });
      }
    });
  });

  it('lets only services that act for people reach the port for administration', () => {
    const reached = ofKind(objectsOf('demo'), 'NetworkPolicy').flatMap((policy) =>
      (
        policy.spec.ingress as {
          from?: { podSelector: { matchLabels: Record<string, string> } }[];
          ports?: { port: unknown }[];
        }[]
      )
        .filter(({ ports = [] }) => ports.some(({ port }) => port === 'grpc-admin'))
        .flatMap(({ from = [] }) =>
          from.map(({ podSelector }) => podSelector.matchLabels['app.kubernetes.io/component']),
        ),
    );
    expect([...new Set(reached)].sort()).toEqual([...ADMIN_CALLERS].sort());
  });

  it('renders the calls that the contracts allow', () => {
    for (const caller of SERVICE_NAMES) {
      const targets = SERVICE_NAMES.filter((each) =>
        documentedSettings(caller).has(`GATEWAY_${each.toUpperCase().replaceAll('-', '_')}_TARGET`),
      );
      expect([caller, CALLS[caller] ?? []]).toEqual([caller, targets.sort()]);
    }
  });
});
