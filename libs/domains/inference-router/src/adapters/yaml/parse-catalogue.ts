import { createHash } from 'node:crypto';
import { pricesOf, type UnixMs } from '@gateway/base';
import { LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type { Catalogue, Model, Provider, Target } from '../../core/catalogue/model-catalogue';
import type { TargetOptions } from '../../core/dialects/dialect';
import type { CatalogueIssue } from '../../core/catalogue/managed-catalogue';
import { problemOfEmbeddings, withEmbeddingDefaults } from './embedding-models';
import { missingCacheWritePrices } from './cache-write-price';
import { providerSettings, type ProviderSettings } from './provider-settings';
import { catalogueSchema, type CatalogueDocument, type ModelDocument, type ProviderDocument } from './schema';
import { readSecret, type Secrets } from './secrets';

/** All validation issues of a models file. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(
    /** Each with its path and line, such as "models[2].prices.output (line 31): …". Contains no secret. */
    readonly issues: readonly string[],
  ) {
    super(
      `the models file has ${issues.length} issue(s):\n${issues.map((issue) => `  - ${issue}`).join('\n')}`,
    );
  }

  get issuesByLine(): readonly CatalogueIssue[] {
    return this.issues.map((message) => {
      const line = /\(line (\d+)\)/.exec(message)?.[1];
      return { message, line: line === undefined ? undefined : Number(line) };
    });
  }
}

export interface ParseCatalogueOptions {
  readonly version: number;
  /** Values for `${NAME}` in a base_url. */
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  /** Hosts in addition to those of its cloud that may receive the identity of the process. Undefined: any, for a file of the process. */
  readonly identityHosts?: readonly string[] | undefined;
}

/** The variable in a `base_url` that is replaced by the model emulator's address. */
export const EMULATOR_VARIABLE = 'MODEL_EMULATOR_URL';

/**
 * Reads a models file.
 *
 * @throws CatalogueError with all issues.
 */
export function parseCatalogue(text: string, options: ParseCatalogueOptions): Catalogue {
  const { document, withLine } = readDocument(text);
  const issues: string[] = [];
  const providers = new Map<string, ReadProvider>();
  document.providers.forEach((provider, index) => {
    const path = `providers[${index}]`;
    if (providers.has(provider.name)) issues.push(`${path}.name: "${provider.name}" is not unique`);
    const settings = providerSettings(provider, { ...options, path, issues });
    providers.set(provider.name, {
      document: provider,
      settings,
      provider: toProvider(provider, settings, path, options.secrets, issues),
    });
  });
  const models = new Map<string, Model>();
  document.models.forEach((model, index) => {
    const path = `models[${index}]`;
    if (models.has(model.id)) issues.push(`${path}.id: "${model.id}" is not unique`);
    models.set(model.id, toModel(model, path, providers, issues));
  });
  if (issues.length > 0) throw new CatalogueError(issues.map(withLine));
  const named = [...providers].map(([name, { provider }]) => [name, provider] as const);
  return { version: options.version, providers: new Map(named), models };
}

interface ReadProvider {
  readonly document: ProviderDocument;
  readonly settings: ProviderSettings;
  readonly provider: Provider;
}

/**
 * Whether an enabled model uses the emulator, which then has to be started.
 *
 * @throws CatalogueError
 */
export function catalogueNeedsEmulator(text: string): boolean {
  const { providers, models } = readDocument(text).document;
  const emulated = new Set(
    providers
      .filter(({ base_url: url = '' }) => url.includes(`\${${EMULATOR_VARIABLE}}`))
      .map(({ name }) => name),
  );
  return models.some(
    ({ disabled, targets }) => !disabled && targets.some(({ provider }) => emulated.has(provider)),
  );
}

interface ReadDocument {
  readonly document: CatalogueDocument;
  /** Adds the line number to an issue that starts with its path. */
  readonly withLine: (issue: string) => string;
}

/** The last result: a start parses the same text three times. */
let lastRead: { readonly text: string; readonly read: ReadDocument } | undefined;

function readDocument(text: string): ReadDocument {
  if (lastRead?.text === text) return lastRead.read;
  const read = parseText(text);
  lastRead = { text, read };
  return read;
}

function parseText(text: string): ReadDocument {
  const lines = new LineCounter();
  const yaml = parseDocument(text, { prettyErrors: true, uniqueKeys: true, lineCounter: lines });
  if (yaml.errors.length > 0) throw new CatalogueError(yaml.errors.map(({ message }) => firstLine(message)));
  const withLine = (issue: string) =>
    issue.replace(/^[a-z_]+(?:\[\d+\]|\.[A-Za-z0-9_-]+)*(?=: )/, (path) => {
      const line = lineOf(yaml, lines, path);
      return line === undefined ? path : `${path} (line ${line})`;
    });
  const checked = catalogueSchema.safeParse(withEmbeddingDefaults(yaml.toJS({ maxAliasCount: 100 })));
  if (checked.success) return { document: checked.data, withLine };
  throw new CatalogueError(
    checked.error.issues.map(({ path, message }) => withLine(`${pathText(path) || 'the file'}: ${message}`)),
  );
}

/** The line of the value, or of its nearest parent when the value is missing. */
function lineOf(yaml: Document, lines: LineCounter, path: string): number | undefined {
  const steps = path
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  for (let depth = steps.length; depth > 0; depth -= 1) {
    const start = (yaml.getIn(steps.slice(0, depth), true) as Node | undefined)?.range?.[0];
    if (start !== undefined) return lines.linePos(start).line;
  }
  return undefined;
}

function toProvider(
  document: ProviderDocument,
  { dialect, baseUrl, credential }: ProviderSettings,
  path: string,
  secrets: Secrets,
  issues: string[],
): Provider {
  const { timeouts } = document;
  return {
    name: document.name,
    dialect,
    baseUrl,
    credential,
    headers: headersOf(document, path, secrets, issues),
    timeouts: {
      connectMs: timeouts.connect_ms,
      firstEventMs: timeouts.first_event_ms,
      firstByteMs: timeouts.first_byte_ms,
      idleMs: timeouts.idle_ms,
      totalMs: timeouts.total_ms,
    },
    maxConcurrent: document.max_concurrent,
    maxAttempts: document.max_attempts,
    sendsTraceparent: document.send_traceparent,
  };
}

function headersOf(
  { headers }: ProviderDocument,
  path: string,
  secrets: Secrets,
  issues: string[],
): Readonly<Record<string, string>> {
  const read = Object.entries(headers).map(([header, value]) => [
    header.toLowerCase(),
    typeof value === 'string' ? value : readSecret(`${path}.headers.${header}`, value, secrets, issues),
  ]);
  return Object.fromEntries(read) as Readonly<Record<string, string>>;
}

function toModel(
  document: ModelDocument,
  path: string,
  providers: ReadonlyMap<string, ReadProvider>,
  issues: string[],
): Model {
  const { tokenizer } = document;
  const isEmbedding = document.kind === 'embedding';
  const targets: Target[] = [];
  document.targets.forEach((target, index) => {
    const read = providers.get(target.provider);
    if (!read) {
      issues.push(`${path}.targets[${index}].provider: unknown provider "${target.provider}"`);
      return;
    }
    const budgets = target.reasoning_budgets;
    for (const effort of budgets ? document.reasoning_efforts : []) {
      if (effort !== 'none' && budgets?.[effort] === undefined)
        issues.push(`${path}.targets[${index}].reasoning_budgets.${effort}: is required, like every effort`);
    }
    const options: TargetOptions = {
      maxTokensParameter: target.max_tokens_parameter ?? read.settings.maxTokensParameter,
      refusesStreamOptions: read.settings.refusesStreamOptions,
      refusesJsonStreams: read.settings.refusesJsonStreams,
      developerAsSystem: read.settings.developerAsSystem,
      forwardReasoningContent: target.forward_reasoning_content ?? read.settings.forwardReasoningContent,
      vendor: read.settings.vendor,
      repairsToolHistory: document.repair_tool_history,
      host: read.settings.host,
      drops: [...read.settings.drops, ...target.drops],
      reasoningBudgets: target.reasoning_budgets,
    };
    if (isEmbedding) {
      const found = problemOfEmbeddings(read.provider.dialect, target.model, options);
      if (found) issues.push(`${path}.targets[${index}].${found.field}: ${found.problem}`);
    }
    targets.push({
      provider: read.provider,
      providerModel: target.model,
      region: target.region ?? read.document.region,
      signer: signerOf(target),
      retryTimeouts: target.retry_timeouts,
      weight: target.weight ?? 1,
      options,
      cost: target.cost && pricesOf(target.cost),
    });
  });
  issues.push(
    ...missingCacheWritePrices(
      document,
      path,
      targets.map(({ provider }) => provider),
    ),
  );
  return {
    id: document.id,
    name: document.name ?? document.id,
    ownedBy: document.owned_by,
    createdUnixS: document.created,
    disabled: document.disabled,
    contextLength: document.context_window,
    maxOutputTokens: isEmbedding ? 0 : document.max_output_tokens,
    ...(isEmbedding && { embeddingDimensions: document.dimensions ?? [] }),
    capabilities: [...new Set(document.capabilities)],
    reasoningEfforts: [...new Set(document.reasoning_efforts)],
    defaultReasoningEffort: document.default_reasoning_effort,
    prices: pricesOf(document.prices),
    priceChanges: (document.price_changes ?? []).map(({ from, ...prices }) => ({
      from: Date.parse(from) as UnixMs,
      prices: pricesOf(prices),
    })),
    tokenCounting: {
      encoding: tokenizer.encoding,
      factor: tokenizer.factor,
      imageFormula: tokenizer.image_formula,
      imageTokens: tokenizer.image_tokens,
      pageTokens: tokenizer.page_tokens,
    },
    extraParameters: [...new Set(document.extra_parameters)],
    routing: document.routing,
    targets,
  };
}

function signerOf({ provider, model }: ModelDocument['targets'][number]): string {
  return createHash('sha256').update(`${provider}/${model}`).digest('hex').slice(0, 12);
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : `${text}${text ? '.' : ''}${String(part)}`,
    '',
  );
}

function firstLine(message: string): string {
  return message.split('\n')[0]?.replace(/:$/, '') ?? message;
}
