import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { nothingReserved } from './testing/accounting';
import { openApiFile } from './testing/api-document';
import { eventually } from './testing/eventually';
import { pythonWith } from './testing/python';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(360_000);

const python = pythonWith('schemathesis');

/** Part of the test's name and of schemathesis's output, so that a failure can be reproduced. */
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_120);
const EXAMPLES_PER_OPERATION = 30;
const DEEP_EXAMPLES = 80;
const TIMEOUT_MS = 240_000;
const REQUEST_TIMEOUT_S = 30;

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
  'ignored_auth',
];

interface Schema {
  [name: string]: unknown;
  properties: Record<string, Record<string, unknown>>;
}

interface Operation {
  parameters: object[];
}

describe(`schemathesis with docs/reference/openapi.json (seed ${SEED})`, () => {
  let testEnv: TestEnv;
  let apiKey: string;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-fuzz-'));
    // All endpoints of the document.
    testEnv = await startTestEnv({ env: { GATEWAY_ENDPOINTS: 'chat,messages,responses,embeddings' } });
  });

  // Invalid requests of one test would use up the abuse limit of the next one's key.
  beforeEach(async () => {
    const tenant = await testEnv.tenant({ credit: '1000000.00', limits: { multiple_completions: true } });
    ({ apiKey } = tenant);
  });

  afterAll(async () => {
    await testEnv?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The OpenAPI document with narrowed request fields, so that responses are short and models exist. */
  function documentWith(name: string, narrow: (chat: Schema, operation: Operation) => void): string {
    const document = JSON.parse(readFileSync(openApiFile, 'utf8')) as {
      components: { schemas: { ChatCompletionRequest: Schema } };
      paths: { '/v1/chat/completions': { post: Operation } };
    };
    const chat = document.components.schemas.ChatCompletionRequest;
    narrow(chat, document.paths['/v1/chat/completions'].post);
    const file = path.join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(document));
    return file;
  }

  async function fuzz(document: string, options: readonly string[]): Promise<void> {
    await python.run(
      [
        '-m',
        'schemathesis.cli',
        'run',
        document,
        `--url=${new URL(testEnv.gateway.baseUrl).origin}`,
        `--header=Authorization: Bearer ${apiKey}`,
        `--checks=${CHECKS.join()}`,
        `--seed=${SEED}`,
        `--request-timeout=${REQUEST_TIMEOUT_S}`,
        '--warnings=off',
        '--no-color',
        ...options,
      ],
      // Schemathesis writes what it learns about the API into its working directory.
      { timeoutMs: TIMEOUT_MS, cwd: folder },
    );
  }

  async function countRequests(): Promise<number> {
    const response = await fetch(`${testEnv.gateway.baseUrl}/usage`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    const { totals } = (await response.json()) as { totals: { requests: number } };
    return totals.requests;
  }

  const narrowFields = ({ properties }: Schema): void => {
    properties['model'] = { type: 'string', enum: ['demo/small', 'demo/standard', 'demo/vision', 'no/such'] };
    for (const name of ['max_tokens', 'max_completion_tokens', 'n']) {
      properties[name] = { ...properties[name], maximum: 16 };
    }
  };

  python.it('finds no 5xx, and no status or response that the document does not describe', async () => {
    await fuzz(documentWith('full', narrowFields), [
      '--phases=examples,coverage,fuzzing',
      `--max-examples=${EXAMPLES_PER_OPERATION}`,
    ]);
    await nothingReserved(testEnv.gateway.baseUrl, apiKey);
  });

  python.it('finds none of these among valid requests that run either', async () => {
    const document = documentWith('deep', (chat, operation) => {
      narrowFields(chat);
      // Headers such as a tiny x-max-cost-usd refuse requests whose bodies are valid.
      operation.parameters = [];
      const { properties } = chat;
      properties['model'] = { type: 'string', enum: ['demo/small'] };
      // Text in brackets would be a command to the emulator.
      const content = { type: 'string', minLength: 1, maxLength: 200, pattern: '^[^\\[\\]]*$' };
      properties['messages'] = {
        type: 'array',
        minItems: 1,
        maxItems: 4,
        items: {
          type: 'object',
          properties: { role: { enum: ['system', 'user', 'developer', 'assistant'] }, content },
          required: ['role', 'content'],
        },
      };
      const fields = [
        'model messages max_tokens n stream stream_options temperature top_p stop seed',
        'frequency_penalty presence_penalty user metadata store service_tier verbosity modalities',
      ];
      chat.properties = Object.fromEntries(
        fields.flatMap((names) => names.split(' ')).map((name) => [name, properties[name] ?? {}]),
      );
    });
    await fuzz(document, [
      '--include-path=/v1/chat/completions',
      '--mode=positive',
      '--phases=fuzzing',
      `--max-examples=${DEEP_EXAMPLES}`,
    ]);
    await eventually('most of them have run', async () =>
      (await countRequests()) >= DEEP_EXAMPLES / 2 ? true : undefined,
    );
    await nothingReserved(testEnv.gateway.baseUrl, apiKey);
  });
});
