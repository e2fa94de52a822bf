import type { UsagePoint } from '../../api/usage';
import type { UsageSplit } from './search';

/** The id of the model, key or project that a point belongs to; null in a series that is not split by it. */
export function idOf(point: UsagePoint, split: UsageSplit): string | null {
  switch (split) {
    case 'model':
      return point.model_id;
    case 'key':
      return point.key_id;
    case 'project':
      return point.project_id;
  }
}
