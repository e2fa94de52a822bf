export { createApiDocuments, type ApiDocuments } from './api-documents';
