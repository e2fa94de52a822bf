import type { Dialect, EncodeCall } from '../dialect';
import { kindOfError, readError } from './classify-error';
import { ConverseDecoder } from './decode-event';
import { parsedRequest } from '../parsed-request';
import { embeddings } from './embeddings';
import { encodeRequest } from './encode-request';
import { familyOf } from './model-family';
import { readResponse } from './read-response';
import { rulesOf } from './rules';

/** Amazon Bedrock's Converse and ConverseStream, and InvokeModel for embeddings. */
export const converse: Dialect = {
  path,
  framing: 'aws_eventstream',
  ...parsedRequest(encodeRequest, ({ providerModel }) => rulesOf(familyOf(providerModel))),
  createDecoder: (_n, providerModel = '') => new ConverseDecoder(familyOf(providerModel)),
  readResponse,
  readError,
  kindOfError,
  embeddings,
};

/** The model is an id, an inference profile or an ARN, with its colons and slashes encoded. */
function path({ providerModel, stream }: Pick<EncodeCall, 'providerModel' | 'stream'>): string {
  return `/model/${encodeURIComponent(providerModel)}/${stream ? 'converse-stream' : 'converse'}`;
}
