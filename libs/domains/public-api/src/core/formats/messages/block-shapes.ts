import { DOCUMENT_NAME } from '../../chat-completion/documents/read-pdf-data';
import { imageLabels } from '../../chat-completion/images/read-image-url';
import { cachePointMembers } from '../../chat-completion/schema/field-shapes';
import { callId, calledName } from '../../chat-completion/schema/message-shape';
import {
  anyObject,
  boolean,
  list,
  optional,
  record,
  required,
  text,
  textOr,
  variants,
} from '../../chat-completion/schema/shape';

/** The shapes of the content of messages. */

const TYPE = 'The kind of block.';
const type = required(text(), TYPE);
export const { cache_control } = cachePointMembers;

export const textBlock = record({
  type,
  text: required(text(), 'The text of the block. It may be empty.'),
  cache_control,
});

const sourceType = required(text(), 'The kind of source.');

const imageBlock = record({
  type,
  source: required(
    variants(
      'type',
      {
        base64: record({
          type: sourceType,
          media_type: required(
            text({ oneOf: imageLabels }),
            'The type of the image. The type that its bytes have takes precedence.',
          ),
          data: required(text(), 'The image as base64: PNG, JPEG, WebP or GIF.'),
        }),
        // Refused later, with an error code of its own.
        url: record({
          type: sourceType,
          url: required(text(), 'Refused: images must be inlined as base64.'),
        }),
      },
      { file: 'Files are not supported. Send the image as base64.' },
    ),
    'The image, for models with the capability `vision`.',
  ),
  cache_control,
});

const documentBlock = record({
  type,
  source: required(
    variants(
      'type',
      {
        base64: record({
          type: sourceType,
          media_type: required(text({ oneOf: ['application/pdf'] }), 'The type of the document.'),
          data: required(text(), 'The PDF document as base64.'),
        }),
        text: record({
          type: sourceType,
          media_type: required(text({ oneOf: ['text/plain'] }), 'The type of the document.'),
          data: required(text(), 'The document, which every model reads as text.'),
        }),
      },
      {
        url: 'Links are not supported. Send the document as base64.',
        file: 'Files are not supported. Send the document as base64.',
        content: "Documents of blocks are not supported. Send a source of the type 'text'.",
      },
    ),
    'The document: PDF for models with the capability `files`, where each page counts as input tokens, or text for all.',
  ),
  title: optional(
    text({ minLength: 1, maxLength: 256 }),
    'The title of a PDF document.',
    `\`${DOCUMENT_NAME}\``,
  ),
  context: optional(text(), 'A text about the document, which the model reads before it.', 'none'),
  citations: optional(
    record({
      enabled: optional(
        boolean(),
        'Whether the model cites the document. Citations are not supported, so true has no effect.',
        '`false`',
      ),
    }),
    'A hint that has no effect.',
    'none',
  ),
  cache_control,
});

const NO_SERVER_TOOLS = 'Server tools are not supported.';

const blockHints = {
  search_result: 'Search results are not supported.',
  container_upload: 'Containers are not supported.',
  server_tool_use: NO_SERVER_TOOLS,
  web_search_tool_result: NO_SERVER_TOOLS,
  web_fetch_tool_result: NO_SERVER_TOOLS,
  code_execution_tool_result: NO_SERVER_TOOLS,
  bash_code_execution_tool_result: NO_SERVER_TOOLS,
  text_editor_code_execution_tool_result: NO_SERVER_TOOLS,
  tool_search_tool_result: NO_SERVER_TOOLS,
  tool_reference: NO_SERVER_TOOLS,
  mcp_tool_use: 'MCP servers are not supported.',
  mcp_tool_result: 'MCP servers are not supported.',
  compaction: 'Compaction is not supported.',
};

const resultContent = textOr(
  list(variants('type', { text: textBlock, image: imageBlock, document: documentBlock }, blockHints)),
);

const toolResultBlock = record({
  type,
  tool_use_id: required(callId, 'The `id` of the call whose result this is.'),
  content: optional(
    resultContent,
    'The result: a text, or blocks of text, images and documents.',
    'an empty result',
  ),
  is_error: optional(
    boolean(),
    'Whether the call failed. Providers without such a field get the content only, which says so.',
    '`false`',
  ),
  cache_control,
});

const toolUseBlock = record({
  type,
  id: required(callId, 'The id of the call; the result repeats it.'),
  name: required(calledName, 'The name of the called tool.'),
  input: required(anyObject(), 'The arguments of the call.'),
  cache_control,
});

const thinkingBlock = record({
  type,
  thinking: required(text(), 'The thinking of the model, unchanged.'),
  signature: optional(
    text(),
    'Its signature, unchanged. Thinking without one is sent only to models that accept readable reasoning.',
    'none',
  ),
});

const redactedBlock = record({
  type,
  data: required(text(), 'What the response had here, unchanged.'),
});

const role = required(text(), 'The role of the author.');
const CONTENT = 'The content of the message: a text, or blocks.';

export const messageShape = variants(
  'role',
  {
    user: record({
      role,
      content: required(
        textOr(
          list(
            variants(
              'type',
              {
                text: textBlock,
                image: imageBlock,
                document: documentBlock,
                tool_result: toolResultBlock,
              },
              blockHints,
            ),
          ),
        ),
        CONTENT,
      ),
    }),
    assistant: record({
      role,
      content: required(
        textOr(
          list(
            variants(
              'type',
              {
                text: textBlock,
                thinking: thinkingBlock,
                redacted_thinking: redactedBlock,
                tool_use: toolUseBlock,
              },
              blockHints,
            ),
          ),
        ),
        CONTENT,
      ),
    }),
    system: record({
      role,
      content: required(textOr(list(variants('type', { text: textBlock }))), CONTENT),
    }),
  },
  { tool: "Use a 'tool_result' block in a message of the role 'user'." },
);
