/** A response of a real server, with the model name of the request. */
export interface ErrorResponseFixture {
  readonly server: string;
  readonly status: number;
  readonly body: object;
}

export const REQUESTED_MODEL = 'acme-large';

export const tooLong: readonly ErrorResponseFixture[] = [
  {
    server: 'OpenAI',
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130011 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  },
  {
    server: 'llama.cpp',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'request (919 tokens) exceeds the available context size (256 tokens), try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 919,
        n_ctx: 256,
      },
    },
  },
  {
    server: 'vLLM',
    status: 400,
    body: {
      object: 'error',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4900 in the messages, 100 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  },
  {
    server: 'vLLM, for the prompt only',
    status: 400,
    body: {
      error: {
        message:
          'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
    },
  },
  {
    server: 'LiteLLM',
    status: 400,
    body: {
      error: {
        message:
          'litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - the request is too large',
        type: null,
        param: null,
        code: '400',
      },
    },
  },
  {
    server: 'TGI',
    status: 422,
    body: {
      error: 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000',
      error_type: 'validation',
    },
  },
  {
    server: 'TGI, with its output',
    status: 422,
    body: {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`',
      error_type: 'validation',
    },
  },
  {
    server: 'Ollama',
    status: 400,
    body: {
      error: {
        message: 'prompt too long; exceeded max context length by 123 tokens',
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    },
  },
  {
    server: 'Mistral',
    status: 400,
    body: {
      object: 'error',
      message:
        'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_prompt_error',
      param: null,
      code: '3051',
    },
  },
  {
    server: 'Anthropic',
    status: 400,
    body: {
      error: {
        message: 'prompt is too long: 210000 tokens > 200000 maximum',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_request_error',
      },
    },
  },
  {
    server: 'Anthropic, with its output',
    status: 400,
    body: {
      error: {
        message:
          'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
        type: 'invalid_request_error',
      },
    },
  },
  {
    server: 'Gemini',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    },
  },
];

export const unknownModel: readonly ErrorResponseFixture[] = [
  {
    server: 'LiteLLM',
    status: 400,
    body: {
      error: {
        message: `/chat/completions: Invalid model name passed in model=${REQUESTED_MODEL}. Call \`/v1/models\` to view available models for your key.`,
        type: 'invalid_request_error',
        param: 'None',
        code: '400',
      },
    },
  },
  {
    server: 'transformers serve',
    status: 400,
    body: { detail: "Server is pinned to '/srv/models/other@main'. Requested model is not available." },
  },
  {
    server: 'Mistral',
    status: 400,
    body: {
      object: 'error',
      message: `Invalid model: ${REQUESTED_MODEL}`,
      type: 'invalid_model',
      param: null,
      code: '1500',
    },
  },
  {
    server: 'DeepSeek',
    status: 400,
    body: {
      error: {
        message: 'Model Not Exist',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_request_error',
      },
    },
  },
  {
    server: 'OpenRouter',
    status: 400,
    body: { error: { message: `${REQUESTED_MODEL} is not a valid model ID`, code: 400 } },
  },
  {
    server: 'vLLM',
    status: 404,
    body: {
      object: 'error',
      message: `The model \`${REQUESTED_MODEL}\` does not exist.`,
      type: 'NotFoundError',
      param: null,
      code: 404,
    },
  },
  {
    server: 'Ollama',
    status: 404,
    body: {
      error: {
        message: `model "${REQUESTED_MODEL}" not found, try pulling it first`,
        type: 'api_error',
        param: null,
        code: null,
      },
    },
  },
];

/** Errors about the request itself, with texts that resemble those above. */
export const invalidRequests: readonly ErrorResponseFixture[] = [
  {
    server: 'about a tool that does not exist',
    status: 400,
    body: {
      error: { message: "Invalid value: the tool 'model' does not exist.", type: 'invalid_request_error' },
    },
  },
  {
    server: 'about a temperature',
    status: 400,
    body: {
      error: {
        message: "'temperature' must be at most 2",
        type: 'invalid_request_error',
        param: 'temperature',
      },
    },
  },
];
