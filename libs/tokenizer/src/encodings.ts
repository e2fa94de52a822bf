/** The part of gpt-tokenizer that is used. */
interface Encoding {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

/** Counts the tokens of one piece of text. */
export type CountPiece = (piece: string) => number;

interface EncodingSource {
  readonly load: () => Promise<Encoding>;
  /** Absolute path of the module, for threads that load it themselves. */
  readonly path: () => string;
}

/** Vocabularies are two megabytes each: loaded when first used. */
const sources: ReadonlyMap<string, EncodingSource> = new Map([
  [
    'o200k_base',
    {
      load: () => import('gpt-tokenizer/encoding/o200k_base'),
      path: () => require.resolve('gpt-tokenizer/encoding/o200k_base'),
    },
  ],
  [
    'cl100k_base',
    {
      load: () => import('gpt-tokenizer/encoding/cl100k_base'),
      path: () => require.resolve('gpt-tokenizer/encoding/cl100k_base'),
    },
  ],
]);

export async function loadEncoding(name: string): Promise<CountPiece> {
  const encoding = await sourceOf(name).load();
  // Without this the tokenizer throws on texts such as "<|endoftext|>".
  const options = { disallowedSpecial: new Set<string>() };
  return (piece) => encoding.countTokens(piece, options);
}

export function encodingPath(name: string): string {
  return sourceOf(name).path();
}

function sourceOf(name: string): EncodingSource {
  const source = sources.get(name);
  if (!source)
    throw new Error(`no tokenizer for the encoding ${name}; known are ${[...sources.keys()].join(', ')}`);
  return source;
}
