import type { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import type { RpcClient } from '@gateway/rpc';
import { DashboardError } from './dashboard-error';

/** The router has the catalogue in memory and sends it at once. */
const CATALOGUE_TIMEOUT_MS = 5_000;

/**
 * Refuses ids that the model catalogue does not know: a key that is limited to
 * a misspelled model would be good for nothing, and nobody would see why.
 * Disabled models count as known, and so does what the key allows already: it
 * may have been taken out of the catalogue since.
 *
 * @throws DashboardError `invalid` that names the first unknown id and its place.
 */
export async function requireKnownModels(
  router: RpcClient<typeof InferenceRouterDefinition>,
  requested: readonly string[] | null | undefined,
  allowedAlready: readonly string[] = [],
): Promise<void> {
  if (!requested || requested.every((id) => allowedAlready.includes(id))) return;
  const known = new Set([...(await catalogueIds(router)), ...allowedAlready]);
  const place = requested.findIndex((id) => !known.has(id));
  if (place === -1) return;
  const param = `allowed_models[${place}]`;
  throw new DashboardError('invalid', {
    message: `${param}: there is no model ${JSON.stringify(requested[place])} in the catalogue.`,
    param,
  });
}

/** The watch sends the whole catalogue at once; nothing after that is waited for. */
async function catalogueIds(router: RpcClient<typeof InferenceRouterDefinition>): Promise<string[]> {
  for await (const { models } of router.watchCatalogue({}, { timeoutMs: CATALOGUE_TIMEOUT_MS }))
    return models.map(({ id }) => id);
  throw new DashboardError('unavailable');
}
