import type { KubernetesObject } from './render';

/** What an update of a StatefulSet may change; Kubernetes refuses all else. */
const MUTABLE_OF_STATEFUL_SET = [
  'minReadySeconds',
  'ordinals',
  'persistentVolumeClaimRetentionPolicy',
  'replicas',
  'revisionHistoryLimit',
  'template',
  'updateStrategy',
];

/**
 * What no upgrade may change, by kind and name: a workload or a service with another one has to be deleted first, and
 * a claim of a volume by another name is another, empty volume.
 */
export function immutableFields(objects: readonly KubernetesObject[]): Record<string, unknown> {
  return Object.fromEntries(
    objects.flatMap(({ kind, metadata, spec }) => {
      const fields = fieldsOf(kind, spec as Record<string, unknown>);
      return fields ? [[`${kind}/${metadata.name}`, fields]] : [];
    }),
  );
}

function fieldsOf(kind: string, spec: Record<string, unknown>): Record<string, unknown> | undefined {
  if (kind === 'Deployment') return { selector: spec['selector'] };
  if (kind === 'Service') return { clusterIP: spec['clusterIP'] ?? 'given by the cluster' };
  if (kind !== 'StatefulSet') return undefined;
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !MUTABLE_OF_STATEFUL_SET.includes(name)));
}
