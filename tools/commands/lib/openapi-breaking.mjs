// What a client of an OpenAPI document can no longer do with a later one: the check of the dashboard's contract, as `buf
// breaking` is that of proto/.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** One line per breaking change. */
export function breakingChanges(before, after) {
  const changes = [];
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const method of METHODS.filter((name) => methods[name])) {
      const name = `${method.toUpperCase()} ${path}`;
      const [old, current] = [methods[method], after.paths[path]?.[method]];
      if (!current) changes.push(`${name} is missing`);
      else changes.push(...changesOf(old, current).map((change) => `${name}: ${change}`));
    }
  }
  return changes;

  function changesOf(old, current) {
    return [
      ...compare(parametersOf(old), parametersOf(current), 'request', 'parameters'),
      ...compare(bodyOf(old), bodyOf(current), 'request', 'body'),
      ...compare(resultOf(old), resultOf(current), 'response', 'response'),
    ];
  }

  /** A client sends requests by the old schema, and reads responses by it. */
  function compare(oldSchema, currentSchema, use, where, seen = new Set()) {
    const [old, current] = [resolve(before, oldSchema), resolve(after, currentSchema)];
    if (!old || seen.has(old)) return [];
    if (!current) return [`${where} is missing`];
    if (old.anyOf || current.anyOf) return compareOptions(old, current, use, where, seen);
    const within = new Set([...seen, old]);
    const found = [];
    if (String(old.type) !== String(current.type)) found.push(`${where} has another type`);
    const [sent, accepted] = use === 'request' ? [old, current] : [current, old];
    const added = (sent.enum ?? []).filter((value) => !(accepted.enum ?? sent.enum).includes(value));
    if (added.length > 0 && use === 'request') found.push(`${where} does not accept ${added.join(', ')}`);
    for (const [name, property] of Object.entries(old.properties ?? {})) {
      const inner = `${where}.${name}`;
      found.push(...compare(property, current.properties?.[name], use, inner, within));
    }
    const [fulfilled, needed] = use === 'request' ? [old, current] : [current, old];
    for (const name of needed.required ?? []) {
      const known = use === 'request' || current.properties?.[name];
      if (known && !(fulfilled.required ?? []).includes(name)) {
        found.push(`${where}.${name} ${use === 'request' ? 'became required' : 'may be absent'}`);
      }
    }
    if (old.items) found.push(...compare(old.items, current.items, use, `${where}[]`, within));
    return found;
  }

  /** Each option that is sent must be compatible with one that is accepted. A schema without options is its only one. */
  function compareOptions(old, current, use, where, seen) {
    const within = old.anyOf ? new Set([...seen, old]) : seen;
    const [olds, currents] = [old, current].map((schema) => schema.anyOf ?? [schema]);
    const [sent, accepted] = use === 'request' ? [olds, currents] : [currents, olds];
    return sent.flatMap((option) => {
      const found = accepted.map((other) =>
        use === 'request'
          ? compare(option, other, use, where, within)
          : compare(other, option, use, where, within),
      );
      return found.sort((one, two) => one.length - two.length)[0];
    });
  }
}

function resolve(document, schema) {
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? schema : document.components.schemas[name];
}

function parametersOf({ parameters = [] }) {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

function bodyOf({ requestBody }) {
  return requestBody?.content['application/json']?.schema;
}

function resultOf({ responses }) {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return success?.content?.['application/json']?.schema;
}
