import { projectFiles, type ProjectFile } from './project-files';

/**
 * Phrases that hide the thing they speak of. cspell refuses single words
 * (`flagWords` in cspell.config.yaml); these have several.
 */
const REFUSED = [
  'at hand',
  'under way',
  '(?:is|are) away',
  '(?:is|are) gone',
  'by itself',
  'left out',
  'lets? go of',
  '(?:broke|breaks?|broken) off',
  'for want of',
  'some \\d+',
  'for ever',
  'for good',
  'all the same',
  'in charge',
  'stands? on',
  'what comes',
  'looked after',
  'gets? it done',
  'good once',
  'of which',
  'what is there',
];
const PATTERN = new RegExp(`\\b(?:${REFUSED.join('|')})\\b`, 'gi');

/** The beginning of a comment that leaves out what it speaks of. */
const ELLIPSIS = /^\s*(?:\/\*\*?|\/\/|--) (?:Of|Those|That of|None of|Whether (?:it|they) do(?:es)?)\b/;

/** Texts of people and recordings, not of the project. */
const EXEMPT = /^tools\/verify\/tidy\/src\/plain-english\.spec\.ts$|\.fixture\.ts$|^CODE_OF_CONDUCT\.md$/;

function refusedIn({ name, text }: ProjectFile): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(PATTERN)].map(([phrase]) => `${name}:${index + 1}: "${phrase}"`),
    );
}

/** The comments of a source that start without a subject. A line that continues a comment may start so. */
function ellipticCommentsIn({ name, text }: ProjectFile): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) =>
    ELLIPSIS.test(line) && !/^\s*(?:\/\/|--) /.test(lines[index - 1] ?? '')
      ? [`${name}:${index + 1}: ${line.trim()}`]
      : [],
  );
}

describe('plain English', () => {
  it('names things instead of circling them', () => {
    expect(
      projectFiles()
        .filter(({ name }) => !EXEMPT.test(name))
        .flatMap(refusedIn),
    ).toEqual([]);
  });

  it('has a subject in each comment', () => {
    const sources = projectFiles().filter(({ name }) => /\.(?:[cm]?[jt]sx?|sql|proto)$/.test(name));
    expect(sources.length).toBeGreaterThan(1_000);
    expect(sources.flatMap(ellipticCommentsIn)).toEqual([]);
  });

  it('finds a comment without a subject', () => {
    const found = ['  /** Of the choice. */', '// Whether it does.', '-- Those of the day.'];
    for (const text of found) expect(ellipticCommentsIn({ name: 'a.ts', text })).toHaveLength(1);
    const text = '// The sum of all lines\n// Of the day, only some.\n/** Office hours. */';
    expect(ellipticCommentsIn({ name: 'a.ts', text })).toEqual([]);
  });

  it('finds each refused phrase', () => {
    const samples = ['The edge is away', 'some 20 requests', 'Stands on PostgreSQL', 'for want of capacity'];
    for (const text of samples) expect(refusedIn({ name: 'sample', text })).toHaveLength(1);
    expect(refusedIn({ name: 'sample', text: 'about 20 requests await the leader' })).toEqual([]);
  });
});
