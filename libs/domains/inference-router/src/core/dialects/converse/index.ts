import type { Dialect, EncodeCall } from '../dialect';
import { kindOfError, readError } from './classify-error';
import { ConverseDecoder } from './decode-event';
import { parsedRequest } from '../parsed-request';
import { encodeRequest } from './encode-request';
import { readResponse } from './read-response';

/** Amazon Bedrock's Converse and ConverseStream. */
export const converse: Dialect = {
  path,
  framing: 'aws_eventstream',
  ...parsedRequest(encodeRequest),
  createDecoder: () => new ConverseDecoder(),
  readResponse,
  readError,
  kindOfError,
};

/** The model is an id, an inference profile or an ARN, with its colons and slashes encoded. */
function path({ providerModel, stream }: Pick<EncodeCall, 'providerModel' | 'stream'>): string {
  return `/model/${encodeURIComponent(providerModel)}/${stream ? 'converse-stream' : 'converse'}`;
}
