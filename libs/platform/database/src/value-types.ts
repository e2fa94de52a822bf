import { types } from 'pg';

type Parse = (text: string) => unknown;

const INT8 = 20;
const INT8_ARRAY = 1016;

/** Parses a one-dimensional array of int8 such as "{1,2,NULL}". */
function parseBigintArray(text: string): (bigint | null)[] {
  const items = text.slice(1, -1);
  if (items === '') return [];
  return items.split(',').map((item) => (item === 'NULL' ? null : BigInt(item)));
}

/** The driver's default parsers, except that int8 is a bigint: amounts of money must never be floats. */
export const valueTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): Parse {
    if (format !== 'binary') {
      if (oid === INT8) return BigInt;
      if (oid === INT8_ARRAY) return parseBigintArray;
    }
    return types.getTypeParser(oid, format as 'text') as Parse;
  },
};
