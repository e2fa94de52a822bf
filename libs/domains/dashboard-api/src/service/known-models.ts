import type { InferenceRouterDefinition, Model } from '@gateway/contracts/inference-router';
import { DashboardError } from '@gateway/dashboard-contract';
import type { RpcClient } from '@gateway/rpc';

/** The router sends the catalogue from memory. */
const CATALOGUE_TIMEOUT_MS = 5_000;

/**
 * Rejects model ids that are not in the catalogue, such as misspelled ones. Disabled models are accepted, and so are models
 * that the key already allows, which may have been removed from the catalogue since.
 * @throws DashboardError `invalid` with the first unknown id and its index.
 */
export async function requireKnownModels(
  router: RpcClient<typeof InferenceRouterDefinition>,
  requested: readonly string[] | null | undefined,
  alreadyAllowed: readonly string[] = [],
): Promise<void> {
  if (!requested || requested.every((id) => alreadyAllowed.includes(id))) return;
  const models = await readModels(router);
  const known = new Set([...models.map(({ id }) => id), ...alreadyAllowed]);
  const index = requested.findIndex((id) => !known.has(id));
  if (index === -1) return;
  const param = `allowed_models[${index}]`;
  throw new DashboardError('invalid', {
    message: `${param}: model ${JSON.stringify(requested[index])} is not in the catalogue.`,
    param,
  });
}

/** All models, also disabled ones: the first message of the watch is the whole catalogue. */
export async function readModels(router: RpcClient<typeof InferenceRouterDefinition>): Promise<Model[]> {
  for await (const { models } of router.watchCatalogue({}, { timeoutMs: CATALOGUE_TIMEOUT_MS }))
    return models;
  throw new DashboardError('unavailable');
}
