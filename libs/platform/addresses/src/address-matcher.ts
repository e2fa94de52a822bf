import { parseAddress } from './address';
import { isWithin, parseRange, type AddressRange } from './address-range';

/** Whether an address is on a list of addresses and CIDR ranges. */
export type AddressMatcher = (address: string, ranges: readonly string[]) => boolean;

/** Compares by value, in any notation. Each list is parsed once; an invalid entry matches no address. */
export function createAddressMatcher(): AddressMatcher {
  const parsed = new WeakMap<readonly string[], AddressRange[]>();
  return (text, list) => {
    const address = parseAddress(text);
    if (!address) return false;
    let ranges = parsed.get(list);
    if (!ranges) {
      ranges = list.map(parseRange).filter((range) => range !== undefined);
      parsed.set(list, ranges);
    }
    return ranges.some((range) => isWithin(address, range));
  };
}
