import path from 'node:path';
import fc from 'fast-check';
import ts from 'typescript';
import { agentRequests } from '../../testing/agent-conversations';
import { TARGET_OPTIONS } from '../../testing/router-under-test';
import type { EncodeCall, TargetOptions } from './dialect';
import { dialects, type DialectName } from './registry';

/** How many requests are generated for each vendor. */
const REQUESTS = 25;
const SEED = 1;

interface Vendor {
  readonly dialect: DialectName;
  readonly providerModel: string;
  readonly options?: Partial<TargetOptions>;
  /** The type of the vendor's library for the encoded request. */
  readonly type: string;
  /** The encoded request in the form of the library, where it has another than the wire. */
  readonly inLibrary?: (encoded: Json) => object;
}
type Json = Readonly<Record<string, unknown>>;

/** The library is for a version of the API without these fields; requests are of an earlier one. */
const withoutSampling = ({ temperature: _, top_p: __, ...encoded }: Json) => encoded;

const vendors: readonly Vendor[] = [
  {
    dialect: 'openai',
    providerModel: 'gpt',
    options: { vendor: 'openai', maxTokensParameter: 'max_completion_tokens' },
    type: 'OpenAI.ChatCompletionCreateParams',
  },
  {
    dialect: 'anthropic',
    providerModel: 'claude',
    type: 'Anthropic.MessageCreateParams',
    inLibrary: withoutSampling,
  },
  {
    dialect: 'anthropic',
    providerModel: 'claude',
    options: { reasoningBudgets: { low: 1_024, medium: 2_048 } },
    type: 'Anthropic.MessageCreateParams',
    inLibrary: withoutSampling,
  },
  {
    dialect: 'gemini',
    providerModel: 'gemini',
    type: 'GenerateContentParameters',
    inLibrary: ({ contents, generationConfig, ...more }) => ({
      model: 'gemini',
      contents,
      config: { ...(generationConfig as Json), ...more },
    }),
  },
  {
    dialect: 'converse',
    providerModel: 'us.anthropic.claude',
    type: 'ConverseCommandInput',
    inLibrary: (encoded) => ({ modelId: 'm', ...encoded }),
  },
  {
    dialect: 'converse',
    providerModel: 'amazon.nova-pro',
    type: 'ConverseCommandInput',
    inLibrary: (encoded) => ({ modelId: 'm', ...encoded }),
  },
];

/** Enumerations are their texts on the wire, and bytes are base64. */
const HEAD = `
import type Anthropic from '@anthropic-ai/sdk';
import type { ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';
import type { GenerateContentParameters } from '@google/genai';
import type OpenAI from 'openai';
type Wire<T> = unknown extends T
  ? T
  : T extends string
    ? \`\${T}\`
    : T extends Uint8Array
      ? string
      : T extends readonly (infer Item)[]
        ? Wire<Item>[]
        : T extends object
          ? { [Key in keyof T]: Wire<T[Key]> }
          : T;
`;

async function encode({ dialect, providerModel, options = {} }: Vendor, body: object, stream: boolean) {
  const call: EncodeCall = {
    providerModel,
    stream,
    maxOutputTokens: 3_000,
    n: 1,
    exactSeed: undefined,
    signer: 'aaaaaaaaaaaa',
    ownsUntagged: true,
    options: { ...TARGET_OPTIONS, ...options },
  };
  const bytes = Buffer.from(JSON.stringify(body));
  const encoded = await dialects[dialect].encodeRequest(bytes, call, () => Promise.resolve());
  return JSON.parse(Buffer.from(encoded).toString()) as Json;
}

/** The errors of a module of this text in this folder. */
function problemsOf(text: string): readonly string[] {
  const fileName = path.join(__dirname, 'encoded-requests.ts');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === fileName || fileExists(name);
  host.getSourceFile = (name, ...more) =>
    name === fileName
      ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022)
      : getSourceFile.call(host, name, ...more);
  const program = ts.createProgram([fileName], options, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(fileName))
    .map(({ messageText, start = 0 }) => {
      const line = text.slice(text.lastIndexOf('\n', start) + 1, text.indexOf('\n', start));
      return `${ts.flattenDiagnosticMessageText(messageText, '\n')}\n${line}`;
    });
}

/** Fields that the type does not have, so that the test shows that it finds them. */
const WRONG = ['n: 1', 'tool_choice: { type: "required" }', 'stop_sequences: "a"'].map(
  (field) =>
    `export const wrong: Wire<Anthropic.MessageCreateParams> = ` +
    `{ model: "m", max_tokens: 1, messages: [{ role: "user", content: "hi" }], ${field} };`,
);

it('requests of agents are of the types of the vendors’ libraries', async () => {
  const bodies = fc.sample(agentRequests, { numRuns: REQUESTS, seed: SEED });
  const lines = WRONG.map((line, index) => line.replace('wrong:', `wrong${index}:`));
  for (const vendor of vendors) {
    for (const [index, body] of bodies.entries()) {
      const encoded = await encode(vendor, body, index % 2 === 1);
      const literal = JSON.stringify(vendor.inLibrary?.(encoded) ?? encoded);
      lines.push(`export const request${lines.length}: Wire<${vendor.type}> = ${literal};`);
    }
  }
  // One program for all, since it reads the types of four libraries.
  expect(problemsOf(`${HEAD}${lines.join('\n')}\n`)).toEqual(
    WRONG.map((_, index) => expect.stringContaining(`wrong${index}:`) as unknown),
  );
}, 180_000);
