import path from 'node:path';
import { parseArgs } from 'node:util';

export interface AddOptions {
  readonly command: 'add';
  readonly file: string;
  /** The name of a provider: of models.yaml, or of one that the command can add. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly providerModel: string;
  readonly maxOutputTokens: number | undefined;
  readonly contextWindow: number | undefined;
  readonly capabilities: readonly string[] | undefined;
  readonly reasoningEfforts: readonly string[] | undefined;
}

export interface DiffOptions {
  readonly command: 'diff';
  readonly file: string;
}

export const HELP = `Usage: npm run models -- COMMAND

  add PROVIDER/MODEL   adds a model to models.yaml, with the prices of @pydantic/genai-prices
  diff                 compares the prices of models.yaml with that package; exits with 1 if any differs, and with 2
                       if it cannot compare. It changes nothing.

  --file FILE                  models file (default: GATEWAY_MODELS_FILE, else the models.yaml of this folder)

For add. The price data has neither the output limit nor the capabilities, so both are required:

  --max-output-tokens N        largest output of the model
  --capabilities LIST          such as tools,vision,json_mode; "none" for text only
  --reasoning-efforts LIST     such as low,medium,high; requires the capability reasoning
  --context-window N           required if the price data has none; replaces that of the price data
`;

/** @throws with a message for people */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): AddOptions | DiffOptions | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      file: { type: 'string' },
      'max-output-tokens': { type: 'string' },
      'context-window': { type: 'string' },
      capabilities: { type: 'string' },
      'reasoning-efforts': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return 'help';
  const [command, name, ...rest] = positionals;
  const file = path.resolve(values.file ?? environment.GATEWAY_MODELS_FILE ?? 'models.yaml');
  if (command === 'diff') {
    if (name !== undefined) throw new Error(`diff takes no argument: '${name}'`);
    const given = Object.keys(values).find((option) => option !== 'file');
    if (given !== undefined) throw new Error(`--${given} is an option of add`);
    return { command, file };
  }
  if (command !== 'add') {
    throw new Error(command === undefined ? 'missing command' : `unknown command '${command}'`);
  }
  const slash = name?.indexOf('/') ?? -1;
  if (name === undefined || slash < 1 || slash === name.length - 1 || rest.length > 0) {
    throw new Error('add takes one argument, PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5');
  }
  return {
    command,
    file,
    provider: name.slice(0, slash),
    providerModel: name.slice(slash + 1),
    maxOutputTokens: readTokens('--max-output-tokens', values['max-output-tokens']),
    contextWindow: readTokens('--context-window', values['context-window']),
    capabilities: values.capabilities === 'none' ? [] : readList('--capabilities', values.capabilities),
    reasoningEfforts: readList('--reasoning-efforts', values['reasoning-efforts']),
  };
}

function readTokens(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${option} must be a number of tokens: '${text}'`);
  return Number(text);
}

function readList(option: string, text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const list = text.split(',').map((each) => each.trim());
  if (list.includes('')) throw new Error(`${option} must be a list such as a,b: '${text}'`);
  return list;
}
