import { allSettings, EMBEDDED, processNames, REQUIRED, type Setting } from './settings';

const isReadByAll = ({ readers }: Setting): boolean => readers.size === processNames.length;

const isReadOnlyBy =
  (service: string) =>
  ({ readers }: Setting): boolean =>
    readers.has(service) && [...readers.keys()].every((reader) => [service, EMBEDDED].includes(reader));

/** Each setting is in the first section that includes it. */
const SECTIONS: readonly (readonly [title: string, includes: (setting: Setting) => boolean])[] = [
  ['All processes', (setting) => isReadByAll(setting) && !setting.name.startsWith('OTEL_')],
  ['Databases and Redis', ({ name }) => /^(GATEWAY_)?(DATABASE|REDIS)_/.test(name)],
  ['Kafka', ({ name }) => name.startsWith('KAFKA_')],
  ['Calls between services', ({ name }) => /_TARGET$|^GATEWAY_(RPC|ACTOR)_/.test(name)],
  ['Public API (edge-proxy)', isReadOnlyBy('edge-proxy')],
  [
    'Dashboard',
    ({ name, readers }) =>
      name.startsWith('GATEWAY_DASHBOARD_') || (readers.has('dashboard-api') && !readers.has('auth')),
  ],
  [
    'Sign-in and stored secrets (auth)',
    (setting) => isReadOnlyBy('auth')(setting) || setting.name === 'GATEWAY_SECRETS_KEY',
  ],
  ['Mail and webhooks', ({ name }) => /^GATEWAY_(SMTP|WEBHOOKS)_/.test(name)],
  ['Limits (rate-limit)', isReadOnlyBy('rate-limit')],
  ['Ledger (billing-ledger)', isReadOnlyBy('billing-ledger')],
  ['Models and generations (inference-router)', isReadOnlyBy('inference-router')],
  ['Usage (usage-aggregator)', isReadOnlyBy('usage-aggregator')],
  ['Telemetry', ({ name }) => name.startsWith('OTEL_')],
  ['Others', () => true],
];

/** The generated part of docs/reference/configuration.md: a heading and a list per setting. */
export function configurationReference(): string {
  const rest = new Set(allSettings());
  return SECTIONS.flatMap(([title, includes]) => {
    const settings = [...rest].filter(includes);
    for (const setting of settings) rest.delete(setting);
    return settings.length === 0 ? [] : [`## ${title}`, ...settings.map(renderSetting)];
  }).join('\n\n');
}

function renderSetting({ name, description, readers }: Setting): string {
  return [
    `### \`${name}\``,
    '',
    description,
    '',
    `- Default: ${renderDefaults(readers)}`,
    `- Read by: ${renderReaders(readers)}`,
  ].join('\n');
}

function renderReaders(readers: Setting['readers']): string {
  if (readers.size === processNames.length) return 'all processes';
  const isEveryService = readers.size === processNames.length - 1 && !readers.has(EMBEDDED);
  return isEveryService ? 'all services' : [...readers.keys()].join(', ');
}

function renderDefaults(readers: Setting['readers']): string {
  const services = [...readers].filter(([process]) => process !== EMBEDDED);
  const ofServices = [...new Set(services.map(([, value]) => renderDefault(value)))];
  if (!readers.has(EMBEDDED)) return ofServices.join(' or ');
  const ofGateway = renderDefault(readers.get(EMBEDDED));
  if (ofServices.length === 0 || (ofServices.length === 1 && ofServices[0] === ofGateway)) return ofGateway;
  return `${ofGateway} in the embedded gateway; ${ofServices.join(' or ')} in a service`;
}

function renderDefault(value: string | symbol | undefined): string {
  if (value === REQUIRED) return 'required';
  return value === undefined ? 'none' : `\`${String(value)}\``;
}
