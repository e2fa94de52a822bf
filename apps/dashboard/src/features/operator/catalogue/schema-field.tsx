import { useId, useState } from 'react';
import { Button } from '../../../ui/button';
import { Checkbox, Field, FieldGroup, Input, Select, TextArea } from '../../../ui/field';
import type { EntryKind } from './check-entry';
import { isFields, pathOf, withField, type Fields, type Schema } from './json-schema';
import { wordsOf } from './words';

/** The fields that most entries need, by the path of their object. The others are below "Advanced". */
const USUAL_FIELDS: Readonly<Record<EntryKind, Readonly<Record<string, readonly string[]>>>> = {
  provider: { '': ['name', 'preset', 'base_url', 'api_key_secret', 'region'] },
  model: {
    '': ['id', 'name', 'targets', 'context_window', 'max_output_tokens', 'capabilities', 'prices'],
    'targets[]': ['provider', 'model', 'cost'],
    prices: ['input', 'output', 'cached_input', 'cache_write'],
    'targets[].cost': ['input', 'output', 'cached_input', 'cache_write'],
  },
};

/** Only a catalogue in a file can have these. */
const OF_FILES = ['api_key_env', 'api_key_file'];

export interface EntryContext {
  readonly kind: EntryKind;
  /** Messages by the path of their field. */
  readonly issues: ReadonlyMap<string, string>;
  /** Known values by path, with empty brackets for every position. */
  readonly suggestions: Readonly<Record<string, readonly string[]>>;
}

interface SchemaFieldProps {
  /** Such as "targets[0].model". */
  readonly path: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly value: unknown;
  /** Undefined removes the field. */
  readonly onChange: (value: unknown) => void;
  readonly context: EntryContext;
}

/** The control of any field of the models file, by its schema. */
function SchemaField(props: SchemaFieldProps) {
  const { type, items, properties } = props.schema;
  if (properties) return <ObjectField {...props} />;
  if (items?.enum) return <EnumListField {...props} options={items.enum} />;
  if (items?.properties) return <ObjectListField {...props} item={items} />;
  if (items?.type === 'string') return <TextListField {...props} />;
  if (type === 'boolean') return <BooleanField {...props} />;
  if (type === 'string' || type === 'integer' || type === 'number') return <ScalarField {...props} />;
  return <JsonField {...props} />;
}

interface SchemaFieldsProps extends Omit<SchemaFieldProps, 'required' | 'value' | 'onChange'> {
  readonly value: Fields;
  readonly onChange: (value: Fields) => void;
}

/** The fields of an object: the usual ones, then the others below "Advanced". */
export function SchemaFields(props: SchemaFieldsProps) {
  const { schema, path, value, context } = props;
  const names = Object.keys(schema.properties ?? {}).filter(
    (name) => !OF_FILES.includes(name) || value[name] !== undefined,
  );
  const usual = USUAL_FIELDS[context.kind][withoutPositions(path)];
  if (!usual) return <FieldGrid {...props} names={names} />;
  const others = names.filter((name) => !usual.includes(name));
  return (
    <>
      <FieldGrid {...props} names={usual.filter((name) => names.includes(name))} />
      {others.length > 0 && (
        <Advanced hasIssue={[...context.issues.keys()].some((issue) => isOfSome(issue, path, others))}>
          <FieldGrid {...props} names={others} />
        </Advanced>
      )}
    </>
  );
}

function FieldGrid({
  schema,
  path,
  value,
  onChange,
  context,
  names,
}: SchemaFieldsProps & { readonly names: readonly string[] }) {
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      {names.map((name) => (
        <SchemaField
          key={name}
          path={pathOf(path, name)}
          schema={schema.properties?.[name] ?? {}}
          required={schema.required?.includes(name) ?? false}
          value={value[name]}
          onChange={(changed) => onChange(withField(value, name, changed))}
          context={context}
        />
      ))}
    </div>
  );
}

function Advanced({
  hasIssue,
  children,
}: {
  readonly hasIssue: boolean;
  readonly children: React.ReactNode;
}) {
  return (
    <details open={hasIssue || undefined}>
      <summary className="cursor-pointer py-1 text-sm font-medium">Advanced</summary>
      <div className="pt-3">{children}</div>
    </details>
  );
}

/** Whether an issue concerns one of these fields of an object, or what is in them. */
function isOfSome(issue: string, path: string, names: readonly string[]): boolean {
  return names.some((name) => {
    const field = pathOf(path, name);
    return issue.startsWith(field) && /^(?:$|[.[])/.test(issue.slice(field.length));
  });
}

function withoutPositions(path: string): string {
  return path.replaceAll(/\[\d+]/g, '[]');
}

/** The field in words, and its name in the text. */
function Label({ path }: { readonly path: string }) {
  return (
    <>
      {wordsOf(path)} <FieldName path={path} />
    </>
  );
}

function FieldName({ path }: { readonly path: string }) {
  return <code className="font-mono text-xs font-normal text-ink-faint">{path}</code>;
}

function ScalarField({ path, schema, required, value, onChange, context }: SchemaFieldProps) {
  const listId = useId();
  const text = value === undefined || value === null ? '' : String(value);
  const change = (typed: string) => {
    if (typed === '') return onChange(undefined);
    // Other text stays as it is: the check explains what is wrong with it.
    onChange(schema.type !== 'string' && /^-?\d+(\.\d+)?$/.test(typed) ? Number(typed) : typed);
  };
  const suggested = context.suggestions[withoutPositions(path)];
  return (
    <Field
      label={<Label path={path} />}
      optional={!required && schema.default === undefined}
      hint={schema.description}
      error={context.issues.get(path)}
    >
      {schema.enum ? (
        <Select value={text} onChange={({ target }) => change(target.value)}>
          <option value="">
            {schema.default === undefined ? 'Not set' : `Default: ${String(schema.default)}`}
          </option>
          {schema.enum.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </Select>
      ) : (
        <Input
          value={text}
          inputMode={schema.type === 'string' ? undefined : 'decimal'}
          placeholder={schema.default === undefined ? undefined : String(schema.default)}
          list={suggested && listId}
          onChange={({ target }) => change(target.value)}
        />
      )}
      {suggested && (
        <datalist id={listId}>
          {suggested.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </Field>
  );
}

function BooleanField({ path, schema, value, onChange }: SchemaFieldProps) {
  return (
    <Checkbox
      label={<Label path={path} />}
      hint={schema.description}
      checked={value === undefined ? schema.default === true : value === true}
      onChange={({ target }) => onChange(target.checked)}
    />
  );
}

function EnumListField({
  path,
  schema,
  value,
  onChange,
  context,
  options,
}: SchemaFieldProps & { readonly options: readonly string[] }) {
  const chosen = listOf(value);
  return (
    <FieldGroup legend={<Label path={path} />} hint={schema.description} error={context.issues.get(path)}>
      {options.map((option) => (
        <Checkbox
          key={option}
          label={option}
          checked={chosen.includes(option)}
          onChange={({ target }) => {
            const changed = options.filter((each) =>
              each === option ? target.checked : chosen.includes(each),
            );
            onChange(changed.length === 0 ? undefined : changed);
          }}
        />
      ))}
    </FieldGroup>
  );
}

function TextListField(props: SchemaFieldProps) {
  return (
    <TypedField
      {...props}
      note="Separated by commas."
      start={listOf(props.value).join(', ')}
      read={(text) =>
        text
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean)
      }
    />
  );
}

/** For fields without a form of their own, such as headers with secrets. */
function JsonField(props: SchemaFieldProps) {
  const { value } = props;
  return (
    <TypedField
      {...props}
      note="JSON."
      start={value === undefined ? '' : JSON.stringify(value)}
      read={parsed}
    />
  );
}

interface TypedFieldProps extends SchemaFieldProps {
  /** How the value is written. */
  readonly note: string;
  readonly start: string;
  readonly read: (text: string) => unknown;
}

/** A value as text, which stays as it was typed. */
function TypedField({ path, schema, context, onChange, note, start, read }: TypedFieldProps) {
  const [text, setText] = useState(start);
  return (
    <Field
      label={<Label path={path} />}
      optional
      hint={schema.description === undefined ? note : `${schema.description} ${note}`}
      error={context.issues.get(path) ?? context.issues.get(`${path}[0]`)}
    >
      <TextArea
        rows={1}
        spellCheck={false}
        className="font-mono text-xs"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          onChange(target.value.trim() === '' ? undefined : read(target.value));
        }}
      />
    </Field>
  );
}

function ObjectField({ path, schema, required, value, onChange, context }: SchemaFieldProps) {
  const fields = isFields(value) ? value : {};
  return (
    <Group
      path={path}
      description={schema.description}
      open={required || value !== undefined}
      error={context.issues.get(path)}
    >
      <SchemaFields
        schema={schema}
        path={path}
        value={fields}
        onChange={(changed) => onChange(!required && Object.keys(changed).length === 0 ? undefined : changed)}
        context={context}
      />
    </Group>
  );
}

function ObjectListField({
  path,
  schema,
  required,
  value,
  onChange,
  context,
  item: itemSchema,
}: SchemaFieldProps & { readonly item: Schema }) {
  const items = listOf(value);
  const change = (changed: readonly unknown[]) => onChange(changed.length === 0 ? undefined : changed);
  return (
    <Group
      path={path}
      description={schema.description}
      open={required || items.length > 0}
      error={context.issues.get(path)}
    >
      {items.map((item, index) => (
        <div key={index} className="grid gap-3 rounded-md border border-line p-3">
          <SchemaFields
            schema={itemSchema}
            path={`${path}[${index}]`}
            value={isFields(item) ? item : {}}
            onChange={(changed) => change(items.map((each, at) => (at === index ? changed : each)))}
            context={context}
          />
          <div>
            <Button small onClick={() => change(items.filter((_, at) => at !== index))}>
              Remove <FieldName path={`${path}[${index}]`} />
            </Button>
          </div>
        </div>
      ))}
      <div>
        <Button small onClick={() => change([...items, {}])}>
          Add to <FieldName path={path} />
        </Button>
      </div>
    </Group>
  );
}

function Group({
  path,
  description,
  open,
  error,
  children,
}: {
  readonly path: string;
  readonly description: string | undefined;
  readonly open: boolean;
  readonly error: string | undefined;
  readonly children: React.ReactNode;
}) {
  // A group that becomes empty stays open.
  const [startsOpen] = useState(open);
  return (
    <details open={startsOpen || error !== undefined} className="sm:col-span-2">
      <summary className="cursor-pointer py-1">
        <Label path={path} />
      </summary>
      <div className="grid gap-3 border-l border-line py-2 pl-3">
        {description !== undefined && <p className="text-xs text-ink-soft">{description}</p>}
        {error && (
          <p role="alert" className="text-xs font-medium text-bad">
            {error}
          </p>
        )}
        {children}
      </div>
    </details>
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text that is not JSON stays text, which the check then refuses. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
