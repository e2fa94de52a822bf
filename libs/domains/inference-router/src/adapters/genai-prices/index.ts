// A separate entry point, so that only programs that read the price data load its package.
export { findPriceData, nearestModels } from './price-data';
