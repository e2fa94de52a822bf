import { type DevFile } from './dev-file';

export interface BannerFacts extends DevFile {
  readonly adminUrl: string;
  /** Of the model in the curl line; undefined when the catalogue has none. */
  readonly modelId: string | undefined;
  /** Whether models are served by the emulator. */
  readonly usesEmulator: boolean;
  readonly stateDirectory: string;
}

/** What `npm start` says when it is ready. */
export function banner(facts: BannerFacts): string {
  const lines = [
    '',
    'The gateway is ready.',
    '',
    `  Base URL            ${facts.baseUrl}`,
    `  API key             ${facts.apiKey}`,
    `  Dashboard           ${facts.dashboardUrl}`,
    `  Login               ${facts.adminEmail}`,
    `  Password            ${facts.adminPassword}`,
    '',
    ...(facts.modelId === undefined
      ? ['No model is enabled: add one to models.yaml.', '']
      : ['Try it:', '', curlLine(facts, facts.modelId), '']),
    ...(facts.usesEmulator
      ? [
          'Models in models.yaml that use the demo provider are served by a built-in emulator: its answers',
          'are invented. models.yaml shows how to plug in a real provider.',
          '',
        ]
      : []),
    `The same is in ${facts.stateDirectory}/dev.json. Ctrl-C stops everything; nothing is lost.`,
    `  Health and metrics  ${facts.adminUrl}`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function curlLine({ baseUrl, apiKey }: DevFile, modelId: string): string {
  const body = JSON.stringify({ model: modelId, messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${baseUrl}/chat/completions -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${body}'`;
}
