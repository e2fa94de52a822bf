import { chatFields } from '../chat-completion/schema/fields';
import { byName, type RequestFormat } from './request-format';

export const chatFormat: RequestFormat = {
  fields: chatFields,
  fieldsByName: byName(chatFields),
  conversation: 'messages',
  hasConversation: ({ messages }) => Array.isArray(messages) && messages.length > 0,
  withoutHostedTools: (body) => body,
  toChat: (copy) => ({ chat: copy }),
  params: new Map(),
  imageUrl: '.image_url.url',
};
