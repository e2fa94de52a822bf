/** NOTIFY channels: an invalidation was committed; an edge acknowledged one. */
export const INVALIDATIONS_CHANNEL = 'gateway_auth_invalidations';
export const ACKNOWLEDGEMENTS_CHANNEL = 'gateway_auth_acknowledgements';
