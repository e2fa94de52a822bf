import path from 'node:path';
import type { KubernetesNode } from './node';
import { programIn } from './programs';
import { run } from './run';

export const NAMESPACE = 'gateway';
const RELEASE = 'gateway';
/** Before the name of every object of the release. */
export const PREFIX = `${RELEASE}-inference-gateway`;
const WAIT = ['--wait', '--timeout', '15m'];

export interface Pod {
  readonly name: string;
  readonly component: string;
  readonly isReady: boolean;
  readonly isLeaving: boolean;
  readonly restarts: number;
}

interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status: {
    readonly phase: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

/** The chart's release on a node, by `helm` and `kubectl`. */
export class Release {
  constructor(
    private readonly node: KubernetesNode,
    private readonly options: { readonly cache: string; readonly root: string },
  ) {}

  kubectl(...args: readonly string[]): Promise<string> {
    return this.node.kubectl('--namespace', NAMESPACE, ...args);
  }

  /** A namespace that lets in only what the strictest of Kubernetes' own levels allows. */
  async makeNamespace(): Promise<void> {
    await this.node.kubectl('create', 'namespace', NAMESPACE);
    await this.node.kubectl(
      ...['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted'],
    );
  }

  /** Until every pod is ready. */
  async install(...values: readonly string[]): Promise<void> {
    await this.helm('install', RELEASE, this.chart(), ...values, ...WAIT);
  }

  async upgrade(...values: readonly string[]): Promise<void> {
    // Those of the release, over the defaults of this chart: an earlier one did not have them all.
    await this.helm('upgrade', RELEASE, this.chart(), '--reset-then-reuse-values', ...values, ...WAIT);
  }

  async rollback(): Promise<void> {
    await this.helm('rollback', RELEASE, ...WAIT);
  }

  async test(): Promise<void> {
    await this.helm('test', RELEASE);
  }

  async uninstall(): Promise<void> {
    await this.helm('uninstall', RELEASE, ...WAIT);
  }

  async pods(): Promise<Pod[]> {
    const { items } = JSON.parse(await this.kubectl('get', 'pods', '--output', 'json')) as {
      items: PodObject[];
    };
    return items.map(({ metadata, status }) => ({
      name: metadata.name,
      component: metadata.labels['app.kubernetes.io/component'] ?? '',
      isReady: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
      isLeaving: metadata.deletionTimestamp !== undefined,
      restarts: (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0),
    }));
  }

  /** Where this machine reaches a service. */
  async address(component: string): Promise<string> {
    const path_ = '{.spec.clusterIP}:{.spec.ports[0].port}';
    return this.kubectl('get', 'service', `${PREFIX}-${component}`, '--output', `jsonpath=${path_}`);
  }

  async secret(name: string, key: string): Promise<string> {
    const found = await this.kubectl(
      ...['get', 'secret', `${PREFIX}-${name}`, '--output', `jsonpath={.data.${key}}`],
    );
    return Buffer.from(found, 'base64').toString('utf8');
  }

  /** What the demo's introduction keeps of its login and key. */
  async login(): Promise<{ adminEmail: string; adminPassword: string }> {
    const show = 'fs.readFileSync("/var/lib/gateway/dev.json", "utf8")';
    const text = await this.kubectl('exec', `${PREFIX}-demo-0`, '--', 'node', '-p', show);
    return JSON.parse(text) as { adminEmail: string; adminPassword: string };
  }

  /** @returns the kind and name of the workload that runs a component. */
  async workload(component: string): Promise<string> {
    const label = `app.kubernetes.io/component=${component}`;
    const found = await this.kubectl(
      ...['get', 'deployments,statefulsets', '--selector', label, '--output', 'name'],
    );
    return found.trim();
  }

  private chart(): string {
    return path.join(this.options.root, 'helm/inference-gateway');
  }

  private async helm(...args: readonly string[]): Promise<void> {
    const own = ['--kubeconfig', this.node.kubeconfig, '--namespace', NAMESPACE];
    await run(programIn(this.options.cache, 'helm'), [...args, ...own]);
  }
}
