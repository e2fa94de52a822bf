import type { Dialect } from '../dialect';
import { kindOfError, readError } from './classify-error';
import { createDecoder } from './decode-event';
import { parsedRequest } from '../parsed-request';
import { encodeRequest } from './encode-request';
import { readResponse } from './read-response';
import { rules } from './rules';

/** Google's `generateContent` and `streamGenerateContent`, of AI Studio and of Vertex AI. */
export const gemini: Dialect = {
  path,
  framing: 'sse',
  ...parsedRequest(encodeRequest, () => rules),
  createDecoder,
  readResponse,
  readError,
  kindOfError,
};

/** A name with a slash, such as "tunedModels/mine" or "endpoints/123", is a path already. */
function path({ providerModel, stream, options }: Parameters<Dialect['path']>[0]): string {
  const isVertex = options.host === 'vertex';
  const models = isVertex ? 'publishers/google/models' : 'models';
  const resource = providerModel.includes('/') ? providerModel : `${models}/${providerModel}`;
  const encoded = resource.split('/').map((name) => encodeURIComponent(name).replaceAll('%40', '@'));
  return `${isVertex ? '' : '/v1beta'}/${encoded.join('/')}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}
