import { appendItem, NotABlockList } from './append-item';

const ITEM = "- id: new\n  prices:\n    input: '1'\n";
const ADDED = "  - id: new\n    prices:\n      input: '1'\n";

describe('appending an item to a list of a models file', () => {
  it('changes no other byte: comments, spaces, quotes and flow lists stay', () => {
    const before = `# Head\nproviders:\n  - {name:   a,base_url: "http://a" }   # one\n\nmodels:   # two\n  - id:   "x"\n    targets: [ {provider: a,   model: b} ]   # three\n`;
    const after = `\n    # Comment of x, deeper\n  # - id: example\n\n# Tail\nother: 1\n`;
    expect(appendItem(before + after, 'models', ITEM)).toBe(`${before}\n${ADDED}${after}`);
  });

  it.each([
    ['a list that is not indented', 'models:\n- id: x\n', `models:\n- id: x\n\n${ITEM}`],
    ['a file without a last line break', 'models:\n  - id: x', `models:\n  - id: x\n\n${ADDED}`],
    [
      'Windows line ends',
      'models:\r\n  - id: x\r\n',
      `models:\r\n  - id: x\r\n\r\n${ADDED.replaceAll('\n', '\r\n')}`,
    ],
    ['a block text at the end', 'models:\n  - id: |\n      x\n', `models:\n  - id: |\n      x\n\n${ADDED}`],
    ['an empty value at the end', 'models:\n  - id:\nb: 1\n', `models:\n  - id:\n\n${ADDED}b: 1\n`],
    [
      'nested lists at the end',
      'models:\n  - a:\n      - b: 1\n',
      `models:\n  - a:\n      - b: 1\n\n${ADDED}`,
    ],
  ])('accepts %s', (_name, text, expected) => {
    expect(appendItem(text, 'models', ITEM)).toBe(expected);
  });

  it.each(['models: [{ id: x }]\n', 'models: []\n', 'models:\n', 'other: 1\n'])('refuses %j', (text) => {
    expect(() => appendItem(text, 'models', ITEM)).toThrow(NotABlockList);
  });
});
