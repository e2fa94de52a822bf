import type { Dialect } from '../dialect';
import { kindOfError, readError } from './classify-error';
import { createDecoder } from './decode-event';
import { parsedRequest } from '../parsed-request';
import { embeddings } from './embeddings';
import { encodeRequest } from './encode-request';
import { readResponse } from './read-response';
import { resourceOf } from './resource';
import { rules } from './rules';

/** Google's `generateContent` and `streamGenerateContent`, and its embeddings, of AI Studio and of Vertex AI. */
export const gemini: Dialect = {
  path,
  framing: 'sse',
  ...parsedRequest(encodeRequest, () => rules),
  createDecoder,
  readResponse,
  readError,
  kindOfError,
  embeddings,
};

function path({ providerModel, stream, options }: Parameters<Dialect['path']>[0]): string {
  return `${resourceOf({ providerModel, options })}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}
