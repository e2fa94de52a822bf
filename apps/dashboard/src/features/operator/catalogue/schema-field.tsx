import { useId, useState } from 'react';
import { Button } from '../../../ui/button';
import { Checkbox, Field, FieldGroup, Input, Select, TextArea } from '../../../ui/field';
import { isFields, pathOf, withField, type Fields, type Schema } from './json-schema';

export interface EntryContext {
  /** Messages by the path of their field. */
  readonly issues: ReadonlyMap<string, string>;
  /** Known values by path, with empty brackets for every position. */
  readonly suggestions: Readonly<Record<string, readonly string[]>>;
}

interface SchemaFieldProps {
  /** Such as "targets[0].model", which is its label. */
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

/** The fields of an object, in the order of the schema. */
export function SchemaFields({
  schema,
  path,
  value,
  onChange,
  context,
}: Omit<SchemaFieldProps, 'required' | 'value' | 'onChange'> & {
  readonly value: Fields;
  readonly onChange: (value: Fields) => void;
}) {
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      {Object.entries(schema.properties ?? {}).map(([name, field]) => (
        <SchemaField
          key={name}
          path={pathOf(path, name)}
          schema={field}
          required={schema.required?.includes(name) ?? false}
          value={value[name]}
          onChange={(changed) => onChange(withField(value, name, changed))}
          context={context}
        />
      ))}
    </div>
  );
}

function Label({ path }: { readonly path: string }) {
  return <code className="font-mono text-xs">{path}</code>;
}

function ScalarField({ path, schema, required, value, onChange, context }: SchemaFieldProps) {
  const listId = useId();
  const text = value === undefined || value === null ? '' : String(value);
  const change = (typed: string) => {
    if (typed === '') return onChange(undefined);
    // Other text stays as it is: the check explains what is wrong with it.
    onChange(schema.type !== 'string' && /^-?\d+(\.\d+)?$/.test(typed) ? Number(typed) : typed);
  };
  const suggested = context.suggestions[path.replaceAll(/\[\d+]/g, '[]')];
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

function TextListField({ path, schema, value, onChange, context }: SchemaFieldProps) {
  const [text, setText] = useState(listOf(value).join(', '));
  return (
    <Field
      label={<Label path={path} />}
      optional
      hint={withNote(schema.description, 'Separated by commas.')}
      error={context.issues.get(path) ?? context.issues.get(`${path}[0]`)}
    >
      <Input
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          const items = target.value
            .split(',')
            .map((item) => item.trim())
            .filter(Boolean);
          onChange(items.length === 0 ? undefined : items);
        }}
      />
    </Field>
  );
}

/** For fields without a form of their own, such as headers with secrets. */
function JsonField({ path, schema, value, onChange, context }: SchemaFieldProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  return (
    <Field
      label={<Label path={path} />}
      optional
      hint={withNote(schema.description, 'JSON.')}
      error={context.issues.get(path)}
    >
      <TextArea
        rows={2}
        spellCheck={false}
        className="font-mono text-xs"
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          onChange(target.value.trim() === '' ? undefined : parsed(target.value));
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
              Remove <Label path={`${path}[${index}]`} />
            </Button>
          </div>
        </div>
      ))}
      <div>
        <Button small onClick={() => change([...items, {}])}>
          Add to <Label path={path} />
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

function withNote(description: string | undefined, note: string): string {
  return description === undefined ? note : `${description} ${note}`;
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
