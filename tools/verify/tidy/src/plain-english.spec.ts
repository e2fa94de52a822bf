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

/** Texts of people and recordings, not of the project. */
const EXEMPT = /^tools\/verify\/tidy\/src\/plain-english\.spec\.ts$|\.fixture\.ts$|^CODE_OF_CONDUCT\.md$/;

function refusedIn({ name, text }: ProjectFile): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(PATTERN)].map(([phrase]) => `${name}:${index + 1}: "${phrase}"`),
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

  it('finds each refused phrase', () => {
    const samples = ['The edge is away', 'some 20 requests', 'Stands on PostgreSQL', 'for want of capacity'];
    for (const text of samples) expect(refusedIn({ name: 'sample', text })).toHaveLength(1);
    expect(refusedIn({ name: 'sample', text: 'about 20 requests await the leader' })).toEqual([]);
  });
});
