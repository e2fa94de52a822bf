import type { Dialect } from '../dialect';
import { kindOfError, readError } from './classify-error';
import { createDecoder } from './decode-event';
import { embeddings } from './embeddings';
import { encodeRequest } from './encode-request';
import { isMisfit } from './is-misfit';
import { refusesOwnField } from './own-fields';
import { readResponse } from './read-response';
import { rulesOf } from './rules';
import { searchBody } from './search-body';

/** OpenAI's chat completions, as many servers speak them. */
export const openai: Dialect = {
  path,
  framing: 'sse',
  parsesBody: (body, { options }) => isMisfit(searchBody(body, options.vendor), options),
  rulesOf: ({ options }) => rulesOf(options.vendor),
  encodeRequest,
  createDecoder,
  readResponse,
  readError,
  kindOfError,
  refusesOwnField,
  embeddings,
};

/** Azure's dated API names the deployment in the path, and its version in the query of the provider's address. */
function path({ providerModel, options }: Parameters<Dialect['path']>[0]): string {
  if (options.host !== 'azure_deployments') return '/chat/completions';
  return `/deployments/${encodeURIComponent(providerModel)}/chat/completions`;
}
