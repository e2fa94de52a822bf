import { Code } from '../../../ui/code';
import { Field, TextArea } from '../../../ui/field';
import { Section } from '../../../ui/page';
import type { CatalogueState } from './catalogue-state';
import type { Draft } from './use-draft';

/** The text of the draft, with all of its providers and models. */
export function YamlTab({ draft: { text, change } }: { readonly draft: Draft }) {
  return (
    <div className="grid gap-3">
      <Field
        label="Catalogue text"
        hint="YAML in the schema of the models file. Name stored secrets with api_key_secret."
      >
        <TextArea
          rows={32}
          spellCheck={false}
          className="font-mono text-xs"
          value={text}
          onChange={({ target }) => change(target.value)}
        />
      </Field>
      <div>
        <Import onText={change} />
      </div>
    </div>
  );
}

/** Replaces the text by that of a file. */
function Import({ onText }: { readonly onText: (text: string) => void }) {
  return (
    <label className="inline-flex h-[2.125rem] cursor-pointer items-center rounded-md border border-line-strong bg-paper px-3 font-medium focus-within:outline-2 hover:bg-sunken">
      Import YAML
      <input
        type="file"
        accept=".yaml,.yml"
        className="sr-only"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          void file?.text().then(onText);
          target.value = '';
        }}
      />
    </label>
  );
}

/** The text of the models file. */
export function ReadOnlyYaml({ of: { text } }: { readonly of: CatalogueState }) {
  return (
    <Section title="Text in effect">
      <Code text={text} what="catalogue" />
    </Section>
  );
}
