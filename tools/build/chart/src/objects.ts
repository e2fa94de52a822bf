import { SERVICE_NAMES } from '@gateway/cluster';
import type { KubernetesObject } from './render';

/** The value of the label, which is the name of a service for its objects. */
export const componentOf = ({ metadata }: KubernetesObject): string =>
  metadata.labels['app.kubernetes.io/component'] ?? '';
export const ofKind = (objects: readonly KubernetesObject[], ...kinds: string[]) =>
  objects.filter(({ kind }) => kinds.includes(kind));
export const isOfService = (object: KubernetesObject) =>
  (SERVICE_NAMES as readonly string[]).includes(componentOf(object));
/** Workloads of the services, without those that the demo adds. */
export const workloads = (objects: readonly KubernetesObject[]) =>
  ofKind(objects, 'Deployment', 'StatefulSet').filter(isOfService);
/** Whether Helm creates the object apart from those of the release. */
export const isHook = ({ metadata }: KubernetesObject): boolean =>
  metadata.annotations?.['helm.sh/hook'] !== undefined;
