import { enumParam, omitUndefined, stringParam } from '../../../app/search';

const TABS = ['models', 'providers', 'yaml', 'history'] as const;
export type CatalogueTab = (typeof TABS)[number];

/** The search parameters of the catalogue page. An unsaved draft outlives a change of the tab, which is not another path. */
export function readCatalogueSearch(search: Record<string, unknown>) {
  return omitUndefined({ tab: enumParam(search, 'tab', TABS), find: stringParam(search, 'find') });
}
