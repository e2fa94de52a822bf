import type { EncodeCall } from '../dialect';

/** The path of a model. A name with a slash, such as "tunedModels/mine" or "endpoints/123", is a path already. */
export function resourceOf({
  providerModel,
  options,
}: Pick<EncodeCall, 'providerModel' | 'options'>): string {
  const isVertex = options.host === 'vertex';
  const models = isVertex ? 'publishers/google/models' : 'models';
  const resource = providerModel.includes('/') ? providerModel : `${models}/${providerModel}`;
  const encoded = resource.split('/').map((name) => encodeURIComponent(name).replaceAll('%40', '@'));
  return `${isVertex ? '' : '/v1beta'}/${encoded.join('/')}`;
}
