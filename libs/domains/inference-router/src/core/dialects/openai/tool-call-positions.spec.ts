import { ToolCallPositions } from './tool-call-positions';

interface Part {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: string;
}

/** The calls that a client assembles from the parts. */
function assembled(...parts: Part[]): string[] {
  const positions = new ToolCallPositions();
  const calls: { name: string | undefined; text: string }[] = [];
  for (const { index, id, name, arguments: text = '' } of parts) {
    for (const call of positions.positioned(0, [{ index, id, name, arguments: text }])) {
      const known = (calls[call.index] ??= { name: call.name, text: '' });
      known.text += call.arguments;
    }
  }
  return calls.map(({ name, text }) => `${name}(${text})`);
}

describe.each([0, undefined])('calls without ids on index %s', (index) => {
  it('are one call for each name after complete arguments', () => {
    const city = (name: string) => ({ index, name: 'weather', arguments: `{"city":"${name}"}` });
    expect(assembled(city('Rome'), city('Oslo'), city('Cairo'))).toEqual([
      'weather({"city":"Rome"})',
      'weather({"city":"Oslo"})',
      'weather({"city":"Cairo"})',
    ]);
  });

  it('start with another name, even while their arguments are empty', () => {
    const parts = [
      { index, name: 'a', arguments: '{"x":' },
      { index, arguments: '"}"}' },
      { index, name: 'b' },
      { index, arguments: '{"y":2}' },
    ];
    expect(assembled(...parts)).toEqual(['a({"x":"}"})', 'b({"y":2})']);
  });

  it('start with a name whose arguments follow in a later part', () => {
    const parts = [
      { index, name: 'a', arguments: '{"x":1}' },
      { index, name: 'a' },
      { index, arguments: '{"x":2}' },
    ];
    expect(assembled(...parts)).toEqual(['a({"x":1})', 'a({"x":2})']);
  });

  it('are one call when the name is repeated in every part', () => {
    const parts = ['', '{"x"', ':1}', ''].map((text) => ({ index, name: 'a', arguments: text }));
    expect(assembled(...parts)).toEqual(['a({"x":1})']);
  });

  it('are one call when an empty object precedes the arguments', () => {
    const parts = [
      { index, name: 'a', arguments: '{}' },
      { index, name: 'a', arguments: '{"x":1}' },
    ];
    expect(assembled(...parts)).toEqual(['a({}{"x":1})']);
  });
});

it('an id that is repeated continues its call', () => {
  const parts = [
    { index: 0, id: '1', name: 'a', arguments: '{"x":1}' },
    { index: 0, id: '1', name: 'a', arguments: ' ' },
  ];
  expect(assembled(...parts)).toEqual(['a({"x":1} )']);
});
