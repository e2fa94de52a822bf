// Generates values.schema.json and docs/reference/helm-values.md from the comments of values.yaml.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isMap, parseDocument } from 'yaml';

/** Files of the demo, and the files that they are copies of. */
export const COPIES = {
  'demo/models.yaml': 'models.yaml',
  'demo/create-databases.sh': 'deploy/postgres/create-databases.sh',
};

export const chartFolder = path.resolve(import.meta.dirname, '../../../helm/inference-gateway');
const settingsPage = path.resolve(import.meta.dirname, '../../../docs/reference/configuration.md');

const QUANTITIES = { type: 'object', additionalProperties: { type: ['string', 'number'] } };
/** Values in the form of Kubernetes' own fields, by their names. */
const OF_KUBERNETES = {
  resources: {
    type: 'object',
    additionalProperties: false,
    properties: {
      requests: QUANTITIES,
      limits: QUANTITIES,
      claims: { type: 'array', items: { type: 'object' } },
    },
  },
  securityContext: { type: 'object' },
  containerSecurityContext: { type: 'object' },
  affinity: { type: 'object' },
  nodeSelector: { type: 'object', additionalProperties: { type: 'string' } },
  tolerations: { type: 'array', items: { type: 'object' } },
  topologySpreadConstraints: { type: 'array', items: { type: 'object' } },
};
/** The least integer, where it is not 0. */
const LEAST = { maxReplicas: 1, targetCpuPercent: 1 };

/** @typedef {{ path: string, type: string, value: unknown, meaning: string }} Row */

/** @returns {{ schema: object, rows: Row[] }} */
export function describeValues(text = readFileSync(path.join(chartFolder, 'values.yaml'), 'utf8')) {
  /** @type {Row[]} */
  const rows = [];
  const { contents } = parseDocument(text);
  const schema = describeMap(contents, [], rows);
  return {
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'Values of the chart inference-gateway',
      ...schema,
      properties: { global: { type: 'object' }, ...schema.properties },
    },
    rows,
  };
}

function describeMap(map, names, rows) {
  const properties = {};
  for (const [index, { key, value }] of map.items.entries()) {
    // The YAML parser attaches the comment of a map's first key to the map.
    const comment =
      key.commentBefore ?? (index === 0 && names.length > 0 ? map.commentBefore : undefined) ?? '';
    properties[key.value] = describe(value, [...names, key.value], readComment(comment), rows);
  }
  return { type: 'object', additionalProperties: false, properties };
}

function describe(node, names, { meaning, directives }, rows) {
  const value = node.toJSON();
  const description = meaning === '' ? {} : { description: meaning };
  const isSettings = 'settings' in directives || names.at(-1) === 'settings';
  if (isSettings) {
    const known = settingsBelow(names.slice(0, -1)).filter(({ name }) => !isGiven(name));
    rows.push({ path: names.join('.'), type: 'map of settings', value, meaning });
    return {
      type: 'object',
      ...description,
      additionalProperties: false,
      properties: Object.fromEntries(known.map(({ name, schema }) => [name, schema])),
    };
  }
  const ofKubernetes = OF_KUBERNETES[names.at(-1)];
  const type = typeOf(value, ofKubernetes ? { items: 'object' } : directives);
  if (ofKubernetes) {
    rows.push({ path: names.join('.'), type, value, meaning });
    return { ...description, ...ofKubernetes };
  }
  const isOpen = 'map' in directives;
  if (isMap(node) && !isOpen) {
    const nested = [];
    const described = describeMap(node, names, nested);
    if (meaning !== '') rows.push({ path: names.join('.'), type: '', value: undefined, meaning });
    rows.push(...nested);
    return { ...description, ...described };
  }
  rows.push({ path: names.join('.'), type, value, meaning });
  if (isMap(node)) return { type: 'object', ...description, ...mapOf(directives) };
  if (Array.isArray(value))
    return { type: 'array', ...description, items: { type: directives.items ?? 'string' } };
  if (directives.enum) return { ...description, enum: directives.enum.split(' ') };
  const { pattern } = directives;
  return {
    type,
    ...description,
    ...(type === 'integer' ? { minimum: LEAST[names.at(-1)] ?? 0 } : {}),
    ...(pattern ? { pattern } : {}),
  };
}

const mapOf = ({ map, keys }) => ({
  ...(map ? { additionalProperties: { type: map } } : {}),
  ...(keys ? { propertyNames: { enum: keys.split(' ') } } : {}),
});

function typeOf(value, directives) {
  if (directives.enum) return directives.enum.split(' ').join(' or ');
  if (Array.isArray(value)) return `list of ${directives.items ?? 'string'}s`;
  if (value !== null && typeof value === 'object') return 'map';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** `@name words` are directives; the other lines are the description. */
function readComment(comment) {
  const directives = {};
  const words = [];
  // Only the last paragraph is about the key.
  for (const line of comment
    .split(/\n\s*\n/)
    .at(-1)
    ?.split('\n') ?? []) {
    const [, name, argument = ''] = /^\s*@(\w+)\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) words.push(line.trim());
    else directives[name] = argument.trim();
  }
  return { meaning: words.join(' ').trim(), directives };
}

/** Settings that the chart sets itself (addresses, ports, paths) or takes from secrets. */
function isGiven(name) {
  const secret =
    /_URL$|_SECRET$|_PASSWORD$|_USERNAME$|_OTLP_HEADERS$|_OTLP_ENDPOINT$|^GATEWAY_SECRETS_KEY$/.test(name) &&
    name !== 'GATEWAY_PUBLIC_URL';
  return secret || /_TARGET$|_PORT$|_DIR$|_FILE$|^GATEWAY_HOST$|^KAFKA_BROKERS$/.test(name);
}

/**
 * The settings that a section of values.yaml accepts, from the configuration reference.
 *
 * @param {readonly string[]} section empty for the settings of all services.
 */
function settingsBelow([section]) {
  const service = section?.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
  const entries = readFileSync(settingsPage, 'utf8').matchAll(/^### `(\w+)`$.*?^- Read by: (.+?)$/gms);
  const isRead = (name, readers) => {
    if (service === 'kafka') return name.startsWith('KAFKA_');
    return (
      /^all (processes|services)$/.test(readers) ||
      (service !== undefined && readers.split(', ').includes(service))
    );
  };
  return [...entries]
    .flatMap(([entry, name, readers]) => (isRead(name, readers) ? [{ name, schema: schemaOf(entry) }] : []))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a setting accepts, as far as its description and its defaults tell: numbers and Booleans, as text too, choices, and no text for the default. */
function schemaOf(entry) {
  const [, description = '', defaults = ''] = /^### .*?\n\n(.*?)\n.*^- Default: (.*?)$/ms.exec(entry) ?? [];
  const values = quoted(defaults);
  const isEach = (pattern) => values.length > 0 && values.every((value) => pattern.test(value));
  if (isEach(/^-?\d+$/)) return { type: ['number', 'string'], pattern: '^(\\s*-?\\d+(\\.\\d+)?\\s*)?$' };
  if (isEach(/^(true|false)$/)) return { enum: [true, false, 'true', 'false', ''] };
  const [choices] = /^(?:[\w ]+: )?(?:`[\w-]+`, )*`[\w-]+` or `[\w-]+`\./.exec(description) ?? [];
  return choices ? { enum: [...quoted(choices), ''] } : { type: ['string', 'number', 'boolean'] };
}

const quoted = (text) => [...text.matchAll(/`([^`]*)`/g)].map(([, value]) => value);

/**
 * A list entry per value, below a heading per top-level value.
 *
 * @param {readonly Row[]} rows
 */
export function renderValues(rows) {
  const lines = [];
  let section;
  for (const { path: name, type, value, meaning } of rows) {
    const [top] = name.split('.');
    if (top !== section) {
      lines.push('', `## ${top}`, '');
      section = top;
      if (name === top && type === '') {
        lines.push(meaning, '');
        continue;
      }
    }
    const text = meaning === '' ? '' : `\n  ${meaning}`;
    lines.push(
      type === ''
        ? `- \`${name}\`${text}`
        : `- \`${name}\` (${type}, default \`${JSON.stringify(value)}\`)${text}`,
    );
  }
  return lines.join('\n').trim();
}

const START = '<!-- generated: values -->';
const END = '<!-- end of values -->';

export function withValues(page, values) {
  const [before, rest = ''] = page.split(START);
  const after = rest.split(END)[1] ?? '\n';
  return `${before}${START}\n\n${values}\n\n${END}${after}`;
}
