import { MODEL } from './canned';
import { type BodyUnderTest } from './measure-bodies';

const WORDS =
  'the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were her all she there would their we him been has when who will more no if out so said what up its about into than them can only other new some could time these two may then do first any my now such like our over man me even most made after also did many before must through'.split(
    ' ',
  );
const WORDS_PER_SENTENCE = 12;
const SENTENCES_PER_LINE = 4;

/** So many characters of prose that no other seed gives; the same in every run. */
export function prose(characters: number, seed: number): string {
  let state = seed + 1;
  let text = '';
  for (let words = 1; text.length < characters; words += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const word = WORDS[(state >>> 8) % WORDS.length] ?? '';
    text += `${word}${(state >>> 20) % 10}`;
    if (words % (WORDS_PER_SENTENCE * SENTENCES_PER_LINE) === 0) text += '.\n';
    else text += words % WORDS_PER_SENTENCE === 0 ? '. ' : ' ';
  }
  return text.slice(0, characters);
}

const IMAGES = 10;
/** In base64, all together with the rest of the body below the limit of 32 MiB. */
const IMAGE_CHARACTERS = 3_000_000;
const PNG_HEADER = Buffer.from('89504e470d0a1a0a0000000d4948445200000400000004000806000000', 'hex');

function image(): object {
  const bytes = Buffer.alloc((IMAGE_CHARACTERS * 3) / 4, 0x5a);
  PNG_HEADER.copy(bytes);
  return { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes.toString('base64')}` } };
}

function body(...contents: readonly unknown[]): Buffer {
  const messages = contents.map((content, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content,
  }));
  return Buffer.from(JSON.stringify({ model: MODEL, max_tokens: 16, messages }));
}

const KB = 1_000;
const TURNS = 40;

/** A conversation of so many characters, whose last message alone is of this round. */
function conversation(characters: number, round: number): Buffer {
  const turns = Array.from({ length: TURNS }, (_, turn) => prose(characters / TURNS, turn));
  return body(...turns, prose(200, 1_000 + round));
}

/** What people send: each is new in every round unless it says otherwise. */
export const ordinaryBodies: readonly BodyUnderTest[] = [
  { name: '16 words', make: (round) => body(prose(90, round)) },
  { name: '8 kB prompt', make: (round) => body(prose(8 * KB, round)) },
  { name: '8 kB prompt, the same again', make: () => body(prose(8 * KB, 0)) },
  { name: 'next turn of 200 kB', make: (round) => conversation(200 * KB, round) },
  { name: '1 MB prompt', make: (round) => body(prose(1_000 * KB, round)) },
  {
    name: '30 MB of images',
    make: () => body([{ type: 'text', text: 'What are these?' }, ...Array.from({ length: IMAGES }, image)]),
  },
];
