import { chatFields } from '../chat-completion/schema/fields';
import { byName, type ChatRequestFormat } from './request-format';

export const chatFormat: ChatRequestFormat = {
  fields: chatFields,
  fieldsByName: byName(chatFields),
  conversation: 'messages',
  hasConversation: ({ messages }) => Array.isArray(messages) && messages.length > 0,
  withoutHostedTools: (body) => body,
  toChat: (copy) => ({ chat: copy }),
  params: new Map(),
  imageUrl: '.image_url.url',
  documentData: '.file.file_data',
};
