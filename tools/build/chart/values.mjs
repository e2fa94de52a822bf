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
    const known = settingsBelow(names.slice(0, -1)).filter((name) => !isGiven(name));
    rows.push({ path: names.join('.'), type: 'map of settings', value, meaning });
    return {
      type: 'object',
      ...description,
      additionalProperties: false,
      properties: Object.fromEntries(known.map((name) => [name, { type: ['string', 'number', 'boolean'] }])),
    };
  }
  const type = typeOf(value, directives);
  const isOpen = 'map' in directives || names.at(-1) === 'resources';
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
  return { type, ...description, ...(type === 'integer' ? { minimum: 0 } : {}) };
}

const mapOf = (directives) => (directives.map ? { additionalProperties: { type: directives.map } } : {});

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
  return [...entries].flatMap(([, name, readers]) => (isRead(name, readers) ? [name] : [])).sort();
}

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
