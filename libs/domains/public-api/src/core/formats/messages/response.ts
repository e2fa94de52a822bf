import { errorEnvelope } from '@gateway/errors';
import { parseObject } from '../chunk-events';
import type { ResponseFormat } from '../response-format';
import { messageOf } from './message';
import { MessageStream } from './message-stream';

export const messagesResponse: ResponseFormat = {
  errorBody: (error) => ({ type: 'error', ...errorEnvelope(error) }),
  openStream: (context) => new MessageStream(context),
  response: (completionJson, context) => JSON.stringify(messageOf(parseObject(completionJson), context)),
};
