export { eventually } from '@gateway/test-support';
