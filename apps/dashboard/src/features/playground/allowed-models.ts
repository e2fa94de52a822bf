import { mayUseTarget } from '@gateway/base';
import { isEmbeddingModel, type OfferedModel } from '../../api/models';
import type { Organization } from '../../api/organizations';

type Rules = Organization['target_rules'];

/** The chat models that have a target at a provider and region which the organization allows. */
export function allowedModels(
  models: readonly OfferedModel[],
  { allowed_providers, denied_providers, allowed_regions, denied_regions }: Rules,
): readonly OfferedModel[] {
  const rules = {
    allowedProviders: allowed_providers,
    deniedProviders: denied_providers,
    allowedRegions: allowed_regions,
    deniedRegions: denied_regions,
  };
  return models.filter(
    (model) =>
      !isEmbeddingModel(model) &&
      model.target_places.some(({ provider, region }) =>
        mayUseTarget(rules, { provider, region: region ?? undefined }),
      ),
  );
}
