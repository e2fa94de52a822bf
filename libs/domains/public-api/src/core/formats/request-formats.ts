import { chatFormat } from './chat-format';
import { embeddingsRequest } from './embeddings/request';
import { messagesRequest } from './messages/request';
import { responsesRequest } from './responses/request';
import type { ChatFormatName, ChatRequestFormat, FormatName, RequestFormat } from './request-format';

export const chatRequestFormats: Readonly<Record<ChatFormatName, ChatRequestFormat>> = {
  chat: chatFormat,
  messages: messagesRequest,
  responses: responsesRequest,
};

export const requestFormats: Readonly<Record<FormatName, RequestFormat>> = {
  ...chatRequestFormats,
  embeddings: embeddingsRequest,
};
