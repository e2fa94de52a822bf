// A separate entry point, so that only programs that read the price data load its package.
export { findPriceData, listPriceData, nearestModels } from './price-data';
