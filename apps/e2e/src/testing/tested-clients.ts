import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startNodeClient, startPythonClient, type ClientProcess } from './client-process';
import { pythonScripts, pythonWith } from './python';

/** A client that the tests run with the setting of its row in docs/how-to/use-client-libraries.md. */
export interface TestedClient {
  /** The package's name, as the page has it. */
  readonly name: string;
  /** As pinned for the tests. */
  readonly version: string;
  /** The setting in code, or undefined if the base URL and the key are enough. */
  readonly setting: string | undefined;
  /** The program's file, below apps/e2e. */
  readonly script: string;
  /** `it`, or its replacement when the client is not installed. */
  readonly it: jest.It;
  start(): ClientProcess;
}

interface Options {
  readonly setting?: string;
  readonly provider?: string;
}

const root = path.resolve(__dirname, '../../../..');
const { dependencies, devDependencies } = JSON.parse(
  readFileSync(path.join(root, 'package.json'), 'utf8'),
) as Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>;
const requirements = ['requirements.txt', 'requirements-frameworks.txt']
  .map((file) => readFileSync(path.join(pythonScripts, file), 'utf8'))
  .join('\n');

function nodeClient(name: string, script: string, { setting, provider }: Options = {}): TestedClient {
  return {
    name,
    version: { ...dependencies, ...devDependencies }[name] ?? '',
    setting,
    script: `clients/${script}`,
    it,
    start: () => startNodeClient(script, provider === undefined ? {} : { provider }),
  };
}

function pythonClient(name: string, module: string, script: string, { setting }: Options = {}): TestedClient {
  const pin = requirements.split('\n').find((line) => line.split(/[=[]/)[0] === name);
  return {
    name,
    version: pin?.split('==')[1] ?? '',
    setting,
    script: `python/${script}`,
    // Looks for Python only where the client runs.
    get it() {
      return pythonWith(module).it;
    },
    start: () => startPythonClient(pythonWith(module).executable(), script),
  };
}

/** Clients with suites of their own, which `describeClient` makes. */
export const clientsWithSuites: readonly TestedClient[] = [
  nodeClient('openai', 'openai.mjs'),
  nodeClient('@ai-sdk/openai-compatible', 'ai-sdk.mjs', { setting: 'supportsStructuredOutputs: true' }),
  nodeClient('@ai-sdk/openai', 'ai-sdk.mjs', { setting: '.chat' }),
  nodeClient('@langchain/openai', 'langchain.mjs'),
  pythonClient('openai', 'openai', 'openai_client.py'),
  pythonClient('langchain-openai', 'langchain_openai', 'langchain_client.py'),
  pythonClient('litellm', 'litellm', 'litellm_client.py', { setting: 'openai/' }),
];

/** Clients whose errors and retries are those of the SDK below them. */
export const clientsOnSdks: readonly TestedClient[] = [
  nodeClient('@openrouter/ai-sdk-provider', 'ai-sdk.mjs', { provider: 'openrouter' }),
  nodeClient('@openai/agents', 'openai-agents.mjs', { setting: 'OpenAIChatCompletionsModel' }),
  pythonClient('openai-agents', 'agents', 'openai_agents_client.py', {
    setting: 'OpenAIChatCompletionsModel',
  }),
  pythonClient('pydantic-ai-slim', 'pydantic_ai', 'pydantic_ai_client.py', { setting: 'OpenAIChatModel' }),
  pythonClient('llama-index-llms-openai-like', 'llama_index', 'llama_index_client.py', {
    setting: 'OpenAILike',
  }),
  pythonClient('smolagents', 'smolagents', 'smolagents_client.py', { setting: 'OpenAIModel' }),
  pythonClient('instructor', 'instructor', 'instructor_client.py'),
];
