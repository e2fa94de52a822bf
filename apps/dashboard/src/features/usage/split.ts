import type { UsagePoint } from '../../api/usage';
import type { UsageSplit } from './search';

/** Whether usage is split by end user or by a tag. It then has no filters and no latencies. */
export function isByValue(split: UsageSplit): boolean {
  return split === 'user' || isByTag(split);
}

const isByTag = (split: UsageSplit): split is `tag:${string}` => split.startsWith('tag:');

const tagOf = (split: `tag:${string}`) => split.slice('tag:'.length);

/** The model, key, project or value that a point belongs to; null for the groups that are shown as one. */
export function idOf(point: UsagePoint, split: UsageSplit): string | null {
  switch (split) {
    case 'model':
      return point.model_id;
    case 'key':
      return point.key_id;
    case 'project':
      return point.project_id;
    default:
      return point.value;
  }
}

const NAMES = { model: 'model', key: 'key', project: 'project', user: 'end user' } as const;

/** What usage is split by, such as "end user" or "tag team". */
export const splitName = (split: UsageSplit): string =>
  isByTag(split) ? `tag ${tagOf(split)}` : NAMES[split];

/** The name of the requests without a value. */
export const noValueName = (split: UsageSplit): string => (split === 'user' ? 'No end user' : 'No value');

/** The split in a query of the API, with the name of its parameter. */
export function splitQuery<Name extends 'split_by' | 'group_by'>(name: Name, split: UsageSplit) {
  const by = isByTag(split) ? 'tag' : split;
  return { [name]: by, ...(isByTag(split) ? { tag: tagOf(split) } : {}) } as Record<Name, typeof by> & {
    readonly tag?: string;
  };
}

/** The filter of the generations page that lists the generations of a value. */
export const generationsOf = (split: UsageSplit, value: string) =>
  isByTag(split) ? { tag: `${tagOf(split)}:${value}` } : { [split]: value };
