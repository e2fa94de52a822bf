export { canonicalRange, isAddressRange } from './address-range';
export { createAddressMatcher, type AddressMatcher } from './address-matcher';
export { createClientAddressReader, type ClientAddressReader } from './client-address';
export { networkOf, UNKNOWN_NETWORK } from './network';
export { isPublicAddress } from './public-address';
