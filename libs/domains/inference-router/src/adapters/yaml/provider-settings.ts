import type { CredentialSettings } from '../../core/catalogue/model-catalogue';
import type { TargetOptions } from '../../core/dialects/dialect';
import { hostsOf, type DialectName } from '../../core/dialects/registry';
import { isCloudOf, presets, type Preset } from './presets';
import type { ProviderDocument } from './schema';
import { readSecret, type Secrets } from './secrets';

/** The settings of a provider that a preset may fill in. */
export interface ProviderSettings {
  readonly dialect: DialectName;
  readonly host: TargetOptions['host'];
  readonly baseUrl: string;
  readonly credential: CredentialSettings;
  readonly maxTokensParameter: TargetOptions['maxTokensParameter'];
  readonly refusesStreamOptions: boolean;
  readonly refusesJsonStreams: boolean;
  readonly developerAsSystem: boolean;
  readonly forwardReasoningContent: boolean;
  readonly vendor: TargetOptions['vendor'];
  readonly drops: readonly string[];
}

export interface SettingsContext {
  /** The path of the provider in the document. */
  readonly path: string;
  /** Values for `${NAME}` in a base_url. */
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: Secrets;
  /** Hosts in addition to those of its cloud that may receive the identity of the process. Undefined: any. */
  readonly identityHosts?: readonly string[] | undefined;
  readonly issues: string[];
}

/** What the document says takes precedence over its preset. */
export function providerSettings(document: ProviderDocument, context: SettingsContext): ProviderSettings {
  const preset: Preset | undefined = document.preset && presets[document.preset];
  const dialect = document.dialect ?? preset?.dialect ?? 'openai';
  const host = document.host ?? preset?.host;
  if (host !== undefined && !hostsOf[dialect].includes(host))
    context.issues.push(`${context.path}.host: "${host}" does not serve the dialect "${dialect}"`);
  const baseUrl = baseUrlOf(document, preset, context);
  const credential = credentialOf(document, preset, context);
  refuseForeignHost(baseUrl, credential, context);
  return {
    dialect,
    host,
    baseUrl,
    credential,
    maxTokensParameter: document.max_tokens_parameter ?? preset?.maxTokensParameter ?? 'max_tokens',
    refusesStreamOptions: !(document.stream_options ?? preset?.refusesStreamOptions !== true),
    refusesJsonStreams: !(document.json_streams ?? preset?.refusesJsonStreams !== true),
    developerAsSystem:
      document.developer_role === undefined
        ? preset?.refusesDeveloperRole === true
        : document.developer_role === 'system',
    forwardReasoningContent: preset?.forwardReasoningContent ?? false,
    vendor: preset?.vendor,
    drops: preset?.drops ?? [],
  };
}

function baseUrlOf(
  document: ProviderDocument,
  preset: Preset | undefined,
  { path, variables, issues }: SettingsContext,
): string {
  const at = `${path}.base_url`;
  const written = document.base_url ?? preset?.baseUrl;
  if (written === undefined) {
    issues.push(`${at}: is required without a preset`);
    return '';
  }
  const placed = written
    .replace('{vertex_host}', vertexHost(document.region ?? '{region}'))
    .replace(/(?<!\$)\{(region|project|resource|api_version)\}/g, (_, field: Place) => {
      const value = document[field];
      if (value === undefined) issues.push(`${path}.${field}: is required, since the address contains it`);
      return value ?? 'unknown';
    });
  const url = placed.replace(/\$\{([A-Za-z0-9_]+)\}/g, (_, name: string) => {
    const value = variables[name];
    if (value === undefined) issues.push(`${at}: unknown variable \${${name}}`);
    return value ?? 'http://unknown.invalid';
  });
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) issues.push(`${at}: must be an http or https URL`);
  else if (parsed.username || parsed.password) issues.push(`${at}: must not contain a user or password`);
  return url.replace(/\/+$/, '');
}

/** Otherwise an operator could send the tokens of the process anywhere. */
function refuseForeignHost(
  baseUrl: string,
  { kind }: CredentialSettings,
  { path, identityHosts, issues }: SettingsContext,
): void {
  if (identityHosts === undefined || !URL.canParse(baseUrl)) return;
  if (kind !== 'google' && kind !== 'entra' && kind !== 'sigv4') return;
  const url = new URL(baseUrl);
  if (isCloudOf(kind, url) || (url.protocol === 'https:' && identityHosts.includes(url.host))) return;
  issues.push(
    `${path}.base_url: the credential "${kind}" is sent to its cloud only; GATEWAY_CLOUD_IDENTITY_HOSTS allows further hosts`,
  );
}

type Place = 'region' | 'project' | 'resource' | 'api_version';

function vertexHost(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com';
  // The multi-regions.
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`;
  return `${region}-aiplatform.googleapis.com`;
}

function credentialOf(
  document: ProviderDocument,
  preset: Preset | undefined,
  context: SettingsContext,
): CredentialSettings {
  const { path, issues } = context;
  const header = document.api_key_header;
  const kind = document.credential ?? (header === undefined ? preset?.credential : 'header') ?? 'bearer';
  const refuse = (...fields: readonly KeyField[]) => {
    for (const field of fields) {
      if (document[field] !== undefined)
        issues.push(`${path}.${field}: is not used by the credential "${kind}"`);
    }
  };
  switch (kind) {
    case 'bearer':
    case 'header': {
      const apiKey = apiKeyOf(document, context);
      if (kind === 'bearer') refuse('api_key_header');
      if (apiKey === undefined) {
        if (kind === 'bearer' && preset === undefined) return { kind: 'none' };
        issues.push(`${path}: api_key_env, api_key_file or api_key_secret is required`);
      }
      if (kind === 'bearer') return { kind, apiKey: apiKey ?? '' };
      const name = header ?? preset?.keyHeader;
      if (name === undefined) issues.push(`${path}.api_key_header: is required by the credential "header"`);
      return { kind, apiKey: apiKey ?? '', header: (name ?? '').toLowerCase() };
    }
    case 'sigv4': {
      refuse('api_key_env', 'api_key_file', 'api_key_secret', 'api_key_header');
      if (document.region === undefined) issues.push(`${path}.region: is required by the credential "sigv4"`);
      return { kind, region: document.region ?? '' };
    }
    case 'google':
      refuse('api_key_env', 'api_key_secret', 'api_key_header');
      // Checks that files may be used; the credential reads the file itself.
      if (document.api_key_file !== undefined && !context.secrets.fromFile) apiKeyOf(document, context);
      return { kind, keyFile: document.api_key_file };
    case 'entra':
      refuse('api_key_env', 'api_key_file', 'api_key_secret', 'api_key_header');
      return { kind };
  }
}

type KeyField = 'api_key_env' | 'api_key_file' | 'api_key_secret' | 'api_key_header';

function apiKeyOf(
  { api_key_env: env, api_key_file: file, api_key_secret: secret }: ProviderDocument,
  { path, secrets, issues }: SettingsContext,
): string | undefined {
  const sources = [
    ...(env === undefined ? [] : [{ field: 'api_key_env', source: { env } }]),
    ...(file === undefined ? [] : [{ field: 'api_key_file', source: { file } }]),
    ...(secret === undefined ? [] : [{ field: 'api_key_secret', source: { secret } }]),
  ];
  const [first, second] = sources;
  if (first && second) {
    issues.push(`${path}: ${first.field} and ${second.field} are mutually exclusive`);
    return undefined;
  }
  return first && readSecret(`${path}.${first.field}`, first.source, secrets, issues);
}
