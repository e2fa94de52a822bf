import type { KubernetesObject } from './render';

/** Fields of a StatefulSet that Kubernetes lets an update change. */
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
 * Fields that no upgrade may change, by kind and name. An object with a different value must be deleted first, and a
 * volume claim with a different name is a new, empty volume.
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
  if (kind === 'Service') return { clusterIP: spec['clusterIP'] ?? 'assigned by the cluster' };
  if (kind !== 'StatefulSet') return undefined;
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !MUTABLE_OF_STATEFUL_SET.includes(name)));
}
