import { apiTypes } from '@gateway/base';
import { enumParam, omitUndefined, stringParam } from '../../app/search';

/** The search parameters of the generations page: its filters. */
export function readGenerationSearch(search: Record<string, unknown>) {
  return omitUndefined({
    find: stringParam(search, 'find'),
    from: stringParam(search, 'from'),
    to: stringParam(search, 'to'),
    model: stringParam(search, 'model'),
    key: stringParam(search, 'key'),
    status: stringParam(search, 'status'),
    api: enumParam(search, 'api', apiTypes),
    error: stringParam(search, 'error'),
    project: stringParam(search, 'project'),
    user: stringParam(search, 'user'),
    tag: stringParam(search, 'tag'),
    min_cost: stringParam(search, 'min_cost'),
    max_cost: stringParam(search, 'max_cost'),
  });
}

export type GenerationSearch = ReturnType<typeof readGenerationSearch>;
