import { calcPrice, findProvider, type MatchLogic } from '@pydantic/genai-prices';
import type { PriceData } from '../../core/price-data/compare-catalogue';

/** The data of the package @pydantic/genai-prices, in its installed version. No network is used. */
export function findPriceData(baseUrl: string, providerModel: string): PriceData | undefined {
  const provider = findProvider({ providerApiUrl: baseUrl });
  // Only the calculation finds a model by all of its names.
  const found = provider && calcPrice({}, providerModel, { providerId: provider.id });
  if (!found) return undefined;
  const { id: model, name: displayName, context_window: contextWindow, prices } = found.model;
  return { model, displayName, contextWindow, prices, source: provider.pricing_urls?.[0] };
}

/** The models of a provider that are not deprecated; none if the provider is unknown. */
export function listPriceData(baseUrl: string): readonly PriceData[] {
  const models = findProvider({ providerApiUrl: baseUrl })?.models ?? [];
  return models.flatMap(({ id, deprecated }) => {
    const data = deprecated ? undefined : findPriceData(baseUrl, id);
    return data?.model === id ? [data] : [];
  });
}

/** Names of at most `count` models of a provider that resemble a name most; none if the provider is unknown. */
export function nearestModels(baseUrl: string, providerModel: string, count: number): readonly string[] {
  const models = findProvider({ providerApiUrl: baseUrl })?.models ?? [];
  const nearest = models.flatMap(({ id, match }) => {
    // Some models of the package are not found by their own id.
    const names = [id, ...namesIn(match)].filter((name) => findPriceData(baseUrl, name) !== undefined);
    return byDistance(names, providerModel).slice(0, 1);
  });
  return byDistance([...new Set(nearest)], providerModel).slice(0, count);
}

function namesIn(match: MatchLogic): string[] {
  if ('or' in match) return match.or.flatMap(namesIn);
  return 'equals' in match ? [match.equals] : [];
}

function byDistance(names: readonly string[], name: string): string[] {
  return names
    .map((each) => ({ each, distance: editDistance(each, name) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ each }) => each);
}

/** Inserted, deleted and replaced characters (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at += 1) {
      const replaced = (row[at - 1] ?? 0) + (character === to[at - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
