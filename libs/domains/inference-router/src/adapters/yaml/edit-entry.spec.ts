import { readFileSync } from 'node:fs';
import { NotABlockList } from './append-item';
import { CannotEdit, withEntry, writtenEntries } from './edit-entry';

const TEXT = `# Head
providers:
  - {name:   acme,base_url: "http://a" }   # one
models:   # two
  # Before the first.
  - id:   acme/a     # the ID
    # Of the prices.
    prices: { input: '1', output: "2" } # both
    targets:
      - provider: acme   # first
        model:   a
    # After the targets.
  # Before the second.
  - id: acme/b
    name: &shared B # last
# Tail
`;
const modelsOf = (text: string) => writtenEntries(text).model;
const commentsOf = (text: string) => [...text.matchAll(/#.*$/gm)].map(([comment]) => comment).sort();
const replaced = (entry: Readonly<Record<string, unknown>>, index = 0, text = TEXT) =>
  withEntry(text, { kind: 'model', index, entry });

describe('the edit of an entry of a catalogue text', () => {
  it('changes the entry, keeps its comments and quotes, and no byte of the others', () => {
    const [model] = modelsOf(TEXT);
    const edited = replaced({ ...model, prices: { input: '3', output: '2' }, context_window: 10 });
    expect(edited).toBe(
      TEXT.replace(
        /acme\/a {5}[^]*?model: {3}a\n/,
        `acme/a # the ID
    # Of the prices.
    prices: { input: '3', output: "2" } # both
    targets:
      - provider: acme # first
        model: a
    context_window: 10
`,
      ).replace('id:   acme/a', 'id: acme/a'),
    );
  });

  it('replaces an entry in braces within its line', () => {
    const edited = withEntry(TEXT, {
      kind: 'provider',
      index: 0,
      entry: { name: 'acme', base_url: 'http://b' },
    });
    expect(edited).toBe(TEXT.replace(/{name.*?}/, '{ name: acme, base_url: "http://b" }'));
  });

  it('removes fields, shortens and extends lists', () => {
    const targets = [{ provider: 'acme', model: 'a' }, { provider: 'other' }];
    const longer = replaced({ id: 'acme/a', targets });
    expect(modelsOf(longer)[0]).toEqual({ id: 'acme/a', targets });
    expect(longer).toContain('provider: acme # first');
    expect(modelsOf(replaced({ id: 'acme/a', targets: [] }, 0, longer))[0]).toEqual({
      id: 'acme/a',
      targets: [],
    });
  });

  it.each([0, 1])('removes entry %i, and keeps the comments and bytes of the others', (index) => {
    const left = withEntry(TEXT, { kind: 'model', index, entry: undefined });
    expect(modelsOf(left)).toEqual(modelsOf(TEXT).filter((_, each) => each !== index));
    expect(left.startsWith(TEXT.slice(0, TEXT.indexOf('  - id:')))).toBe(true);
    expect(left.endsWith('# Tail\n')).toBe(true);
  });

  it.each([
    ['to a list', TEXT],
    ['to an empty text', ''],
    ['to an empty list', 'models:\n'],
    ['to an empty list with a comment, before another key', 'models: # none\nproviders:\n  - name: a\n'],
    ['to a text without the list', 'providers:\n  - name: a'],
  ])('adds an entry %s', (_name, text) => {
    const entry = { id: 'acme/new', prices: { input: '1', output: '0.15' }, context_window: 5 };
    const longer = withEntry(text, { kind: 'model', index: undefined, entry });
    expect(modelsOf(longer)).toEqual([...modelsOf(text), entry]);
    expect(writtenEntries(longer).provider).toEqual(writtenEntries(text).provider);
    expect(commentsOf(longer)).toEqual(commentsOf(text));
  });

  it('keeps aliases, Windows line ends, and a text without a last line break', () => {
    const text =
      'models:\r\n  - id: &a x # c\r\n    name: *a\r\n    context_window: 1\r\n  - id: y\r\n    name: *a';
    const edited = replaced({ id: 'y', name: 'x', context_window: 2 }, 1, text);
    expect(edited).toBe(`${text}\r\n    context_window: 2`);
    const first = replaced({ id: 'x', name: 'x', context_window: 3 }, 0, text);
    expect(first).toBe(text.replace('window: 1', 'window: 3'));
  });

  it('leaves every other entry of the distributed models file, and all comments, as they are', () => {
    const file = readFileSync('models.yaml', 'utf8');
    const entries = writtenEntries(file);
    for (const kind of ['provider', 'model'] as const) {
      entries[kind].forEach((entry, index) => {
        expect(withEntry(file, { kind, index, entry })).toBe(file);
        const changed = { ...entry, note: 'changed' };
        const edited = withEntry(file, { kind, index, entry: changed });
        expect(writtenEntries(edited)).toEqual({ ...entries, [kind]: entries[kind].with(index, changed) });
        expect(commentsOf(edited)).toEqual(commentsOf(file));
      });
    }
  });

  it('refuses a position without an entry, a text that is not YAML, and a list in brackets', () => {
    expect(() => replaced({}, 2)).toThrow(CannotEdit);
    expect(() => replaced({}, 0, '')).toThrow(CannotEdit);
    const broken = `${TEXT}  - [`;
    expect(() => replaced({ id: 'x' }, 0, broken)).toThrow('not valid YAML');
    expect(() => withEntry(broken, { kind: 'model', index: undefined, entry: {} })).toThrow('not valid YAML');
    for (const entry of [undefined, { id: 'z' }])
      expect(() => withEntry('models: [{ id: x }, { id: y }]\n', { kind: 'model', index: 0, entry })).toThrow(
        NotABlockList,
      );
    expect(() =>
      withEntry('models: [{ id: x }]\n', { kind: 'model', index: undefined, entry: { id: 'y' } }),
    ).toThrow(NotABlockList);
  });
});
