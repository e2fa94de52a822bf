import { chatFormat } from './chat-format';
import { messagesRequest } from './messages/request';
import { responsesRequest } from './responses/request';
import type { FormatName, RequestFormat } from './request-format';

export const requestFormats: Readonly<Record<FormatName, RequestFormat>> = {
  chat: chatFormat,
  messages: messagesRequest,
  responses: responsesRequest,
};
