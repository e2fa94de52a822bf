import { describeWith } from '@gateway/dev-infra';
import { componentOf, workloads } from './objects';
import { helm, render, renderText } from './render';

describeWith(helm, 'HTTPS of the services', () => {
  it('serves HTTPS without an ingress: certificate, port of the Service, helm test and notes', () => {
    const objects = render('least', '--set', 'edgeProxy.tlsSecret=api-tls');
    const edge = workloads(objects).find((each) => componentOf(each) === 'edge-proxy')?.spec.template.spec;
    const [{ env, volumeMounts }] = edge.containers;
    expect(env).toContainEqual({ name: 'GATEWAY_TLS_KEY_FILE', value: '/etc/gateway/https/tls.key' });
    expect(volumeMounts).toContainEqual({ name: 'https', mountPath: '/etc/gateway/https', readOnly: true });
    expect(edge.volumes).toContainEqual({
      name: 'https',
      secret: expect.objectContaining({ secretName: 'api-tls' }),
    });
    const portsOf = (name: string) =>
      objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith(name))?.spec.ports;
    expect(portsOf('-edge-proxy')).toEqual([
      { name: 'https', port: 443, targetPort: 'api', appProtocol: 'https' },
    ]);
    expect(portsOf('-dashboard-api')).toMatchObject([{ name: 'http', port: 80 }]);
    const test = objects.find(({ kind }) => kind === 'Pod')?.spec.containers[0];
    expect(test.command.slice(-2)).toEqual([
      expect.stringMatching(/^https:.*edge-proxy$/),
      expect.stringMatching(/^http:.*dashboard-api$/),
    ]);
    expect(() => renderText('everything', '--set', 'dashboardApi.tlsSecret=tls')).toThrow(
      /dashboardApi\.tlsSecret exclude ingress and httpRoute/,
    );
  });
});
