import { errorEnvelope } from '@gateway/errors';
import { parseObject } from '../chunk-events';
import type { ResponseFormat } from '../response-format';
import { responseOf } from './output';
import { ResponseStream } from './response-stream';

export const responsesResponse: ResponseFormat = {
  errorBody: errorEnvelope,
  openStream: (context) => new ResponseStream(context),
  response: (completionJson, context) => responseOf(parseObject(completionJson), context),
};
