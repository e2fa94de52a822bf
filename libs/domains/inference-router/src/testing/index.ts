export { agentRequests } from './agent-conversations';
export { createVendorCalls, vendors, type CallVendor, type Vendor } from './vendor-calls';
