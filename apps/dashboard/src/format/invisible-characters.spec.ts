import { visible, visibleText } from './invisible-characters';

it.each([
  ['safe\u202Emoc.live', 'safe⟨U+202E⟩moc.live'],
  ['admin\u200B', 'admin⟨U+200B⟩'],
  ['a\u0000b\nc', 'a⟨U+0000⟩b⟨U+000A⟩c'],
  ['tag\u{E0041}', 'tag⟨U+E0041⟩'],
  ['filler\u3164', 'filler⟨U+3164⟩'],
  ['adm\u200Din', 'adm⟨U+200D⟩in'],
])('shows the invisible characters of %j', (text, shown) => expect(visible(text)).toBe(shown));

it.each(['👩\u200D💻 team', '👩🏽\u200D🚒', 'می\u200Cخواهم', 'שלום', 'naïve – “quoted”'])(
  'does not change %j',
  (text) => expect(visible(text)).toBe(text),
);

it('keeps line breaks and marks in longer text, and shows bidirectional overrides', () =>
  expect(visibleText('a\n\u200Fb\u202Ec\u2069')).toBe('a\n\u200Fb⟨U+202E⟩c⟨U+2069⟩'));
