/** NOTIFY channels: for committed invalidations, and for acknowledgements by edges. */
export const INVALIDATIONS_CHANNEL = 'gateway_auth_invalidations';
export const ACKNOWLEDGEMENTS_CHANNEL = 'gateway_auth_acknowledgements';
